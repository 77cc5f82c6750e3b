import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { streamEvents, streamLogs } from './streams.js';

/** Tests of streams that are cut, on a server that sends prepared content. */

let server: Server;
let baseUrl: string;
/** The content that each connection gets before it is cut. */
let answers: string[];
/** True to keep the connections open after the content. */
let stays: boolean;
/** The position that each connection has sent. */
let asked: (string | undefined)[];

beforeEach(async () => {
  asked = [];
  stays = false;
  server = createServer((request, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(answers.shift() ?? '', () => stays || response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it('a stream resumes after the last whole event, and after a position without an event', async () => {
  answers = [
    'id: 1\nevent: task.created\ndata: {"n":1}\n\nid: 2\ndata: {"n"',
    'id: 2\ndata: {"n":2}\n\nid: 5\n\n',
    'id: 6\ndata: {"n":6}\n\n',
  ];
  const seen: unknown[] = [];
  for await (const { data } of streamEvents({ baseUrl })) {
    seen.push(data['n']);
    if (data['n'] === 6) break;
  }
  expect(seen).toEqual([1, 2, 6]);
  expect(asked).toEqual([undefined, '1', '5']);
});

it('a stream of several servers resumes at the next one that answers', async () => {
  answers = ['id: 6\ndata: {"n":6}\n\n'];
  const other = createServer((_, response) => {
    other.close();
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    response.end('id: 5\ndata: {"n":5}\n\n');
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const events = streamEvents({ baseUrl: `${otherUrl},${baseUrl}` });
  expect((await events.next()).value?.data).toEqual({ n: 5 });
  expect((await events.next()).value?.data).toEqual({ n: 6 });
  await events.return(undefined);
  expect(asked).toEqual(['5']);
});

it('a stream reports missed log entries, and keeps its position meanwhile', async () => {
  answers = [
    'event: reset\ndata: {"code":"events_expired"}\n\n',
    'id: 9\nevent: log\ndata: {}\n\n',
  ];
  const resets: string[] = [];
  const options = {
    baseUrl,
    lastEventId: '3',
    onReset: ({ code }: { code: string }) => void resets.push(code),
  };
  for await (const entry of streamLogs(options, 'a task')) {
    expect(entry).toEqual({});
    break;
  }
  expect(resets).toEqual(['events_expired']);
  expect(asked).toEqual(['3', '3']);
});

it('a stream ends with the refusal of the server', async () => {
  const end = 'event: end\ndata: {"code":"workspace_not_found","status":404,"title":"Gone"}\n\n';
  answers = [end];
  await expect(streamEvents({ baseUrl }).next()).rejects.toMatchObject({
    code: 'workspace_not_found',
  });
});

it('an abandoned stream disconnects from the server', async () => {
  stays = true;
  answers = ['id: 1\ndata: {}\n\n'];
  const left = new Promise<void>((resolve) => {
    server.on('request', (_, response) => response.on('close', () => resolve()));
  });
  const events = streamEvents({ baseUrl });
  await events.next();
  await events.return(undefined);
  await left;
});

it('a stream refuses an invalid address, and ends without an error at its signal', async () => {
  await expect(streamEvents({ baseUrl: 'nowhere' }).next()).rejects.toThrow('Invalid URL');
  const signal = AbortSignal.abort();
  await expect(streamEvents({ baseUrl, signal }).next()).resolves.toMatchObject({ done: true });
});

it('a stream ends at its signal during silence, even after a garbage collection', async () => {
  stays = true;
  answers = ['id: 1\ndata: {}\n\n'];
  const end = new AbortController();
  const events = streamEvents({ baseUrl, signal: end.signal });
  await events.next();
  const next = events.next();
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  setTimeout(() => end.abort(), 10);
  expect(await next).toMatchObject({ done: true });
});
