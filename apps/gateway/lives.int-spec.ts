import { afterAll, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../libs/hosts/session-runtime/testing/processes.js';
import { waitFor } from '../../test/support/wait-for.js';
import { aSpawn, sleeper, TestGateway } from './testing/gateway-process.js';
import { gatewayForEach } from './testing/world.js';

afterAll(killMarked);

describe('A killed gateway', () => {
  const world = gatewayForEach();

  test('a restarted gateway adopts running sessions, and reports their end', async () => {
    const [before, after, between] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
    const bodies = [before, after, between].map((seconds) =>
      aSpawn(`trap 'echo bye; exit 9' TERM; sleep ${seconds} & wait`),
    );
    for (const body of bodies) await world.gateway.spawn(body);
    for (const body of bodies) await world.untilStatus(body.runId, 'RUNNING');
    for (const seconds of [before, after, between]) await untilLooping(seconds);
    const pids = await Promise.all(
      bodies.map(async ({ runId }) => (await world.gateway.session(runId)).pid),
    );
    await waitFor('their starts to be told', () => world.gateway.pendingReports() === 0);
    const [firstBoot, firstId] = [world.gateway.bootId, world.gateway.gatewayId];
    await world.gateway.crash();
    process.kill(pids[2] ?? 0, 'SIGTERM');
    await waitFor('one to end meanwhile', () => processesWith(between).length === 0);
    const heartbeats = world.server.heartbeats.length;
    await world.gateway.start();
    expect(world.gateway.gatewayId).toBe(firstId);
    expect(world.gateway.bootId).not.toBe(firstBoot);
    const heartbeat = await waitFor(
      'the first heartbeat',
      () => world.server.heartbeats[heartbeats],
    );
    expect(heartbeat.bootId).toBe(world.gateway.bootId);
    expect(heartbeat.sessions.map(({ runId }) => runId)).toEqual(
      expect.arrayContaining(bodies.slice(0, 2).map(({ runId }) => runId)),
    );
    const [first, second, third] = bodies.map(({ runId }) => runId) as [string, string, string];
    expect(await world.server.endOf(third)).toMatchObject({ exitCode: 9, output: 'bye' });
    expect(await world.gateway.session(first)).toMatchObject({ status: 'RUNNING', pid: pids[0] });
    const again = await world.gateway.spawn(bodies[0] ?? {});
    expect([again.status, again.body.session?.status]).toEqual([200, 'RUNNING']);
    expect(processesWith(before)).toHaveLength(1);
    for (const runId of [first, second]) {
      await world.gateway.ask('DELETE', `/api/sessions/${runId}`);
      expect(await world.server.endOf(runId)).toMatchObject({ exitCode: 9, output: 'bye' });
    }
    expect(world.server.reports.filter(({ event }) => event === 'started')).toHaveLength(3);
  });

  test('an adopted session keeps its timeout and its stop', async () => {
    const script = (seconds: string) => `trap '' TERM; while :; do sleep ${seconds}; done`;
    const seconds = uniqueSeconds();
    const late = aSpawn(script(uniqueSeconds()), { timeoutSeconds: 2, graceSeconds: 0 });
    const stopped = aSpawn(script(seconds));
    for (const body of [late, stopped]) await world.gateway.spawn(body);
    await untilLooping(seconds);
    await world.gateway.ask('DELETE', `/api/sessions/${stopped.runId}?graceSeconds=2`);
    await world.gateway.crash();
    await world.gateway.start();
    expect(await world.server.endOf(late.runId)).toMatchObject({ error: { class: 'timeout' } });
    expect(await world.server.endOf(stopped.runId)).toMatchObject({
      signal: 'SIGKILL',
      oomKilled: false,
    });
    expect(await world.statusOf(stopped.runId)).toBe('STOPPED');
  });

  test('a kill right after the answer loses nothing, and starts nothing twice', async () => {
    const marks = Array.from({ length: 5 }, uniqueSeconds);
    const bodies = marks.map((seconds) => aSpawn(sleeper(seconds)));
    await Promise.all(bodies.map((body) => world.gateway.spawn(body)));
    await world.gateway.crash();
    await world.gateway.start();
    for (const body of bodies) await world.untilStatus(body.runId, 'RUNNING');
    expect(marks.map((seconds) => processesWith(seconds).length)).toEqual([1, 1, 1, 1, 1]);
  });

  test('a second gateway on the data folder is refused while the first one lives', async () => {
    const rival = new TestGateway({ DROVER_API_URL: world.server.apiUrl });
    await expect(rival.start({ GATEWAY_DATA_DIR: world.gateway.dataDir })).rejects.toThrow(
      'already works with the data folder',
    );
    await rival.dispose();
  });
});

describe('A server that is away', () => {
  const world = gatewayForEach();

  test('the server gets every exit after an outage', async () => {
    await waitFor('the first heartbeat', () => world.server.heartbeats.length > 0);
    await world.server.stop();
    const bodies = [1, 2, 3].map((code) => aSpawn(`exit ${code}`));
    for (const body of bodies) await world.gateway.spawn(body);
    for (const body of bodies) await world.untilStatus(body.runId, 'FAILED');
    await world.server.start();
    for (const [index, { runId }] of bodies.entries()) {
      expect(await world.server.endOf(runId)).toMatchObject({ exitCode: index + 1 });
      expect(world.server.reportsOf(runId).map(({ event }) => event)).toEqual([
        'started',
        'exited',
      ]);
    }
  });

  test('a restarted gateway lists the sessions in heartbeats until they are reported', async () => {
    await world.server.stop();
    const body = aSpawn('exit 5');
    await world.gateway.spawn(body);
    await world.untilStatus(body.runId, 'FAILED');
    await world.gateway.crash();
    world.server.heartbeats.length = 0;
    // The server accepts no report before the first heartbeat.
    const named = () => world.server.heartbeats.some(({ ended }) => ended.includes(body.runId));
    world.server.refuseReports = () => (named() ? undefined : 503);
    await world.server.start();
    await world.gateway.start();
    expect(await world.server.endOf(body.runId)).toMatchObject({ exitCode: 5 });
    for (const heartbeat of world.server.heartbeats) {
      expect(heartbeat.sessions).toEqual([]);
      if (heartbeat.reportsBefore === 0) expect(heartbeat.ended).toEqual([body.runId]);
    }
    const last = world.server.heartbeats.length;
    await waitFor('a later heartbeat', () => world.server.heartbeats.length > last + 1);
    expect(world.server.heartbeats.at(-1)?.ended).toEqual([]);
  });

  test('a malformed report, or a failing server, delays no other report', async () => {
    const [poison, fine] = [aSpawn('exit 1'), aSpawn('exit 2')];
    let failures = 3;
    world.server.refuseReports = (reports) => {
      if (reports.some(({ runId }) => runId === poison.runId)) return 400;
      return failures-- > 0 ? 503 : undefined;
    };
    for (const body of [poison, fine]) await world.gateway.spawn(body);
    expect(await world.server.endOf(fine.runId)).toMatchObject({ exitCode: 2 });
    expect(world.server.reportsOf(poison.runId)).toEqual([]);
    // A report that the server never accepts must not keep the server from ending the run itself.
    const later = world.server.heartbeats.length + 1;
    const heartbeat = await waitFor('a later heartbeat', () => world.server.heartbeats[later]);
    expect(heartbeat).toMatchObject({ sessions: [], ended: [] });
  });
});

/** A shell that runs `sleep` has set its trap. */
const untilLooping = (seconds: string, shells = 1) =>
  waitFor('the loops', () => processesWith(seconds).length >= shells);

describe('A gateway that shuts down', () => {
  const world = gatewayForEach({ SHUTDOWN_DEADLINE_SECONDS: '15', MAX_CONCURRENT_WORKERS: '3' });

  test('a shutdown drains, stops and kills sessions, and reports them in time', async () => {
    const seconds = uniqueSeconds();
    const goOn = join(world.gateway.dataDir, 'go-on');
    const finishes = aSpawn(`until test -e ${goOn}; do sleep 0.1; done; exit 0`);
    const saves = aSpawn(`trap 'echo saved; exit 0' TERM; sleep ${seconds} & wait`);
    const ignores = aSpawn(`trap '' TERM; while :; do sleep ${seconds}; done`);
    const waits = aSpawn('exit 0');
    const bodies = [finishes, saves, ignores, waits];
    for (const body of bodies) await world.gateway.spawn(body);
    for (const { runId } of bodies.slice(0, 3)) await world.untilStatus(runId, 'RUNNING');
    await untilLooping(seconds, 2);
    const begun = performance.now();
    world.gateway.kill('SIGTERM');
    expect(await world.server.endOf(waits.runId)).toMatchObject({
      event: 'failed',
      error: { class: 'drained' },
    });
    writeFileSync(goOn, '');
    // The heartbeat comes first. Otherwise the server would assign the session to this gateway
    // again.
    const given = world.server.reports.findIndex(({ runId }) => runId === waits.runId);
    const announcement = world.server.heartbeats.find(({ draining }) => draining);
    expect(announcement?.reportsBefore).toBeLessThanOrEqual(given);
    const refused = await world.gateway.spawn(aSpawn('exit 0'));
    expect([refused.status, refused.body['code']]).toEqual([503, 'gateway_draining']);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect((await world.gateway.spawn(saves)).status).toBe(200);
    expect((await world.gateway.ask('GET', '/readyz', undefined, '')).status).toBe(503);
    expect(await world.gateway.ended()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(15_500);
    expect(world.server.heartbeats.at(-1)?.draining).toBe(true);
    expect(world.server.reportsOf(finishes.runId).at(-1)).toMatchObject({ exitCode: 0 });
    expect(world.server.reportsOf(saves.runId).at(-1)).toMatchObject({
      exitCode: 0,
      output: 'saved',
      error: { class: 'drained' },
    });
    expect(world.server.reportsOf(ignores.runId).at(-1)).toMatchObject({
      signal: 'SIGKILL',
      error: { class: 'drained' },
    });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a second signal kills the sessions at once', async () => {
    const seconds = uniqueSeconds();
    const body = aSpawn(`trap '' TERM; while :; do sleep ${seconds}; done`);
    await world.gateway.spawn(body);
    await untilLooping(seconds);
    const begun = performance.now();
    world.gateway.kill('SIGTERM');
    await world.gateway.said('Shutting down');
    world.gateway.kill('SIGTERM');
    expect(await world.gateway.ended()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(2_500);
    expect(world.server.reportsOf(body.runId).at(-1)).toMatchObject({ signal: 'SIGKILL' });
    expect(processesWith(seconds)).toEqual([]);
  });
});

describe('A gateway that is asked to finish', () => {
  const world = gatewayForEach({ SHUTDOWN_DEADLINE_SECONDS: '1' });

  test('the gateway accepts nothing new, and its session has no deadline', async () => {
    const body = aSpawn('sleep 2; exit 3');
    await world.gateway.spawn(body);
    await world.untilStatus(body.runId, 'RUNNING');
    world.gateway.kill('SIGUSR2');
    await world.gateway.said('Shutting down after the last session');
    expect((await world.gateway.spawn(aSpawn('exit 0'))).status).toBe(503);
    expect(await world.gateway.ended()).toBe(0);
    expect(world.server.reportsOf(body.runId).at(-1)).toMatchObject({
      exitCode: 3,
      error: { class: 'exit_code' },
    });
  });
});
