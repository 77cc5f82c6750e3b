import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { followStream } from '../support/event-stream.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';

/** More data than the buffers of both ends of a connection. */
const EVENTS = 8_000;
const SIZE = 2_000;
const ADD_EVENTS = `
INSERT INTO journal (workspace_id, event, actor_kind, details)
SELECT $1, 'task.of_a_test', 'system', jsonb_build_object('n', n, 'text', repeat('x', $3))
FROM generate_series(1, $2::int) n`;

let fleet: TestFleet;
const sockets: Socket[] = [];

beforeAll(async () => {
  fleet = await TestFleet.create({ env: { ROLES: 'api', MAX_STREAMS_PER_CALLER: '1' } });
  await fleet.startServer();
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await fleet.stop();
});

/** Each stream has its own key, because each key is a caller. */
async function aKey(): Promise<Record<string, string>> {
  const wanted = { name: 'follower', role: 'VIEWER', scopes: ['tasks:read'] };
  const path = `/workspaces/${fleet.workspaceId}/api-keys`;
  const { body } = await fleet.api.post<{ key: string }>(path, wanted);
  return { authorization: `Bearer ${body.key}` };
}

const url = () => `http://127.0.0.1:${fleet.port}/api/v1/events`;

/** Follows until its stream is open, then stops reading without closing the connection. */
async function follow(headers: Record<string, string>): Promise<Socket> {
  const socket = connect(fleet.port, '127.0.0.1').setEncoding('utf8');
  sockets.push(socket);
  const head = Object.entries({ host: 'x', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`GET /api/v1/events HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
  let heard = '';
  while (!heard.includes('id: ')) heard += String((await once(socket, 'data'))[0]);
  socket.pause();
  return socket;
}

it('a half-open subscriber is disconnected, frees its stream, and delays no other', async () => {
  const [silent, awake] = [await aKey(), await aKey()];
  const socket = await follow(silent);
  const other = await followStream(url(), awake);
  await waitFor('its place', () => other.lastEventId() !== '');
  await fleet.db.owner.query(ADD_EVENTS, [fleet.workspaceId, EVENTS, SIZE]);
  await other.atLeast(EVENTS);
  expect((await fetch(url(), { headers: silent })).status).toBe(429);
  await waitFor('the place', async () => {
    const again = await followStream(url(), silent);
    again.close();
    return again.status === 200;
  });
  // The client's own end did not close the stream.
  const closed = once(
    socket.on('error', () => undefined),
    'close',
  );
  socket.resume();
  await closed;
  other.close();
});
