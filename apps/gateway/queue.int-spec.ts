import { afterAll, describe, expect, test } from '@jest/globals';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../libs/hosts/session-runtime/testing/processes.js';
import { aSpawn, sleeper } from './testing/gateway-process.js';
import { gatewayForEach } from './testing/world.js';

afterAll(killMarked);

const TWO_SLOTS = { MAX_CONCURRENT_WORKERS: '2', GATEWAY_QUEUE_LIMIT: '2' };

describe('The queue', () => {
  const world = gatewayForEach({ ...TWO_SLOTS, WORKER_CREATION_TIMEOUT: '300' });

  test('sessions wait for a slot in order, and a full queue refuses', async () => {
    const bodies = Array.from({ length: 4 }, () => aSpawn(sleeper(uniqueSeconds())));
    const answers = [];
    for (const body of bodies) answers.push(await world.gateway.spawn(body));
    expect(answers.map(({ status, body }) => [status, body.session?.status])).toEqual([
      [201, 'STARTING'],
      [201, 'STARTING'],
      [202, 'QUEUED'],
      [202, 'QUEUED'],
    ]);
    const full = await world.gateway.spawn(aSpawn('exit 0'));
    expect([full.status, full.body['code']]).toEqual([429, 'resource_exhausted']);
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    const [first, , third, fourth] = bodies.map(({ runId }) => runId) as [
      string,
      string,
      string,
      string,
    ];
    const again = await world.gateway.spawn(bodies[2] ?? {});
    expect([again.status, again.body.session?.status]).toEqual([200, 'QUEUED']);
    await world.gateway.ask('DELETE', `/api/sessions/${first}`);
    await world.untilStatus(third, 'RUNNING');
    expect(await world.statusOf(fourth)).toBe('QUEUED');
    await world.gateway.ask('DELETE', `/api/sessions/${fourth}`);
    expect(await world.server.endOf(fourth)).toMatchObject({ event: 'failed' });
    expect(await world.statusOf(fourth)).toBe('STOPPED');
  });

  test('a queued session of a paused task is released', async () => {
    const bodies = Array.from({ length: 3 }, () => aSpawn(sleeper(uniqueSeconds())));
    for (const body of bodies) await world.gateway.spawn(body);
    const runId = bodies[2]?.runId ?? '';
    world.server.orders.push({ runId, action: 'pause', reason: 'paused', graceSeconds: 5 });
    expect(await world.server.endOf(runId)).toMatchObject({
      event: 'failed',
      error: { class: 'paused' },
    });
    expect(await world.statusOf(runId)).toBe('STOPPED');
  });

  test('the queue survives a crash in its order', async () => {
    const seconds = Array.from({ length: 4 }, uniqueSeconds);
    const bodies = seconds.map((one) => aSpawn(sleeper(one)));
    for (const body of bodies) await world.gateway.spawn(body);
    await world.untilStatus(bodies[1]?.runId ?? '', 'RUNNING');
    await world.gateway.crash();
    await world.gateway.start({ MAX_CONCURRENT_WORKERS: '3' });
    const [, , third, fourth] = bodies.map(({ runId }) => runId) as [
      string,
      string,
      string,
      string,
    ];
    await world.untilStatus(third, 'RUNNING');
    expect(await world.statusOf(fourth)).toBe('QUEUED');
    expect(seconds.map((one) => processesWith(one).length)).toEqual([1, 1, 1, 0]);
    expect((await world.gateway.spawn(bodies[3] ?? {})).status).toBe(200);
  });
});

describe('A queue with a limit of two seconds', () => {
  const world = gatewayForEach({ ...TWO_SLOTS, WORKER_CREATION_TIMEOUT: '2' });

  test('a session that waits too long is given up', async () => {
    const bodies = Array.from({ length: 3 }, () => aSpawn(sleeper(uniqueSeconds())));
    for (const body of bodies) await world.gateway.spawn(body);
    const end = await world.server.endOf(bodies[2]?.runId ?? '');
    expect(end).toMatchObject({
      event: 'failed',
      error: { class: 'resource_exhausted', message: expect.stringContaining('ResourceExhausted') },
    });
    expect(world.server.reportsOf(bodies[2]?.runId ?? '')).toHaveLength(1);
  });
});
