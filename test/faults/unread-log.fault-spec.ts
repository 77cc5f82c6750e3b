import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

/** A refused request is a line of the log. These fill the pipe (64 KiB) and the buffer (1 MiB). */
const REQUESTS = 120;
const PIPE_BYTES = 65_536;
const LONG_NAME = 'x'.repeat(12_000);

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.create({ env: { LOG_LEVEL: 'info' } });
});

afterAll(() => fleet.stop());

/** The pipe was full, so a program that waits for its reader would not have ended. */
async function expectFullPipe(server: BuiltProcess): Promise<void> {
  await waitFor('the output of a full pipe', () => server.output.length >= PIPE_BYTES);
}

async function startUnread(env: Record<string, string> = {}): Promise<BuiltProcess> {
  const server = await fleet.startServer(env);
  server.pauseOutput();
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const answer = await fetch(`http://127.0.0.1:${fleet.port}/api/v1/${LONG_NAME}`);
    expect(answer.status).toBe(404);
    await answer.body?.cancel();
  }
  return server;
}

describe('a program whose log nobody reads', () => {
  it('a server continues to answer, and ends at the first signal', async () => {
    const server = await startUnread();
    server.kill('SIGTERM');
    expect(await server.ended()).toBe(0);
    await expectFullPipe(server);
  });

  it('a server whose work does not end is ended by its deadline', async () => {
    const server = await startUnread({ SHUTDOWN_DEADLINE_SECONDS: '1' });
    const table = await fleet.db.owner.connect();
    await table.query('BEGIN; LOCK TABLE users');
    const body = JSON.stringify({ email: 'nobody@example.com', password: 'a-long-password' });
    const headers = { 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${fleet.port}/api/v1/auth/login`;
    const signIn = fetch(url, { method: 'POST', headers, body }).catch(() => 'no answer');
    await waitFor('the request to wait for the table', async () => {
      const { rows } = await table.query(`SELECT FROM pg_locks
        WHERE relation = 'users'::regclass AND NOT granted`);
      return rows.length > 0;
    });
    server.kill('SIGTERM');
    expect([await server.ended(), await signIn]).toEqual([1, 'no answer']);
    await expectFullPipe(server);
    await table.query('ROLLBACK');
    table.release();
  });
});
