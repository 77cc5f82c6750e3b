import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestFleet } from '../support/fleet.js';

/** A refused request is a line of the log. These fill the pipe (64 KiB) and the buffer (1 MiB). */
const REQUESTS = 120;
const LONG_NAME = 'x'.repeat(12_000);

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.create();
});

afterAll(() => fleet.stop());

describe('a program whose log nobody reads', () => {
  it('a server continues to answer, and ends at the first signal', async () => {
    const server = await fleet.startServer();
    server.pauseOutput();
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      const answer = await fetch(`http://127.0.0.1:${fleet.port}/api/v1/${LONG_NAME}`);
      expect(answer.status).toBe(404);
      await answer.body?.cancel();
    }
    server.kill('SIGTERM');
    expect(await server.ended()).toBe(0);
  });
});
