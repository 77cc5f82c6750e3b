import { afterAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../libs/hosts/session-runtime/testing/processes.js';
import { waitFor } from '../../test/support/wait-for.js';
import { aSpawn, sleeper } from './testing/gateway-process.js';
import { oneGateway } from './testing/world.js';

afterAll(killMarked);

describe('A gateway', () => {
  const world = oneGateway({
    GATEWAY_PASS_ENV: 'PROVIDER_API_KEY',
    PROVIDER_API_KEY: 'provider-secret',
  });

  test("a run's command gets token and task, and its start and end are reported", async () => {
    const script = `
      echo "$DROVER_API_URL $DROVER_RUN_ID $DROVER_TASK_ID $DROVER_AGENT_ID $DROVER_WORKSPACE_ID"
      echo "$DROVER_SESSION_KEY $DROVER_RUN_TOKEN $PROVIDER_API_KEY input-secret-value"
      test "$REGION" = a-secret-region && echo "in $REGION with $DROVER_MODEL in $TRACEPARENT"
      cat "$DROVER_TASK_FILE"; exit 3`;
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const more = {
      secrets: { REGION: 'a-secret-region' },
      metadata: { model: 'a-model', traceparent },
    };
    const body = aSpawn(script, more);
    const { status, body: answer } = await world.gateway.spawn(body);
    expect(status).toBe(201);
    const { gatewayId: id, bootId } = world.gateway;
    expect(answer['gateway']).toEqual({ id, bootId, sequence: expect.any(Number) });
    const sessionKey = `gateway:${world.gateway.gatewayId}:${answer.session?.id}`;
    expect(answer.session).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sessionKey,
      runId: body.runId,
      workspaceId: body.workspaceId,
      agentId: body.agentId,
      taskId: body.taskId,
      label: 'task:test',
      status: 'STARTING',
      pid: null,
      exitCode: null,
      signal: null,
      oomKilled: false,
      error: null,
      createdAt: expect.any(String),
      startedAt: null,
      endedAt: null,
      lastActivityAt: expect.any(String),
    });
    const end = await world.server.endOf(body.runId);
    const [start] = world.server.reportsOf(body.runId);
    expect(start).toMatchObject({ event: 'started', sessionKey, pid: expect.any(Number) });
    expect(end).toMatchObject({
      event: 'exited',
      exitCode: 3,
      oomKilled: false,
      pid: start?.pid,
      error: { class: 'exit_code' },
    });
    const { apiUrl, runId, taskId, agentId, workspaceId } = body;
    expect(end.output).toContain(`${apiUrl} ${runId} ${taskId} ${agentId} ${workspaceId}\n`);
    expect(end.output).toContain(`${sessionKey} [redacted] [redacted] [redacted]\n`);
    expect(end.output).toContain(`in [redacted] with a-model in ${traceparent}\n`);
    expect(end.output).toContain('"checkpointData":{"page":7}');
    const line = { sessionId: answer.session?.id, runId, taskId, workspaceId, traceId };
    expect(await world.gateway.said('Session ended')).toMatchObject(line);
    expect(await world.gateway.session(runId)).toMatchObject({
      status: 'FAILED',
      exitCode: 3,
      error: { class: 'exit_code' },
    });
    const folders = () => readdirSync(join(world.gateway.dataDir, 'sessions'));
    await waitFor('its folder to go', () => !folders().includes(answer.session?.id ?? ''));
    const record = readFileSync(
      join(world.gateway.dataDir, `records/${answer.session?.id}.json`),
      'utf8',
    );
    expect(record).not.toContain(body.runToken);
    expect(record).not.toContain('a-secret-region');
  });

  test('repeated requests for a run start one session', async () => {
    const seconds = uniqueSeconds();
    const body = aSpawn(sleeper(seconds));
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.gateway.spawn(body)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect(new Set(answers.map((answer) => answer.body.session?.id)).size).toBe(1);
    await world.untilStatus(body.runId, 'RUNNING');
    await waitFor('it to sleep', () => processesWith(seconds).length > 0);
    expect(processesWith(seconds)).toHaveLength(1);
    const stopped = await world.gateway.ask('DELETE', `/api/sessions/${body.runId}?graceSeconds=5`);
    expect(stopped.status).toBe(202);
    expect(await world.server.endOf(body.runId)).toMatchObject({
      signal: 'SIGTERM',
      error: { class: 'signal', message: expect.stringContaining('stopped through the API') },
    });
    const again = await world.gateway.spawn(body);
    expect([again.status, again.body.session?.status]).toEqual([200, 'STOPPED']);
    expect((await world.gateway.ask('DELETE', `/api/sessions/${body.runId}`)).status).toBe(202);
  });

  test.each([
    [
      'exit 0',
      {
        exitCode: 0,
        error: { class: 'exit_code', message: expect.stringContaining('without completing') },
      },
      'COMPLETED',
    ],
    ['exit 1', { exitCode: 1, error: { class: 'exit_code' } }, 'FAILED'],
    ['exit 137', { exitCode: 137, oomKilled: true, error: { class: 'oom' } }, 'FAILED'],
    [
      `exec '${process.execPath}' -e 'throw new Error("boom")'`,
      { exitCode: 1, error: { class: 'exit_code', message: 'Exited with 1: Error: boom' } },
      'FAILED',
    ],
    ['kill -USR1 $$', { signal: 'SIGUSR1', error: { class: 'signal' } }, 'FAILED'],
    ['kill -TERM $$', { signal: 'SIGTERM', error: { class: 'signal' } }, 'FAILED'],
    ['echo "JavaScript heap out of memory" >&2; exit 134', { error: { class: 'oom' } }, 'FAILED'],
  ])('the end of a session is classified: %s', async (script, report, status) => {
    const body = aSpawn(script);
    await world.gateway.spawn(body);
    expect(await world.server.endOf(body.runId)).toMatchObject({ event: 'exited', ...report });
    expect(await world.statusOf(body.runId)).toBe(status);
  });

  test('a session beyond its timeout is stopped, and killed if it does not end', async () => {
    const seconds = uniqueSeconds();
    const script = `trap '' TERM; while :; do sleep ${seconds}; done`;
    const body = aSpawn(script, { timeoutSeconds: 1, graceSeconds: 0 });
    await world.gateway.spawn(body);
    expect(await world.server.endOf(body.runId)).toMatchObject({
      signal: 'SIGKILL',
      oomKilled: false,
      error: { class: 'timeout', message: 'Ran longer than its 1 s' },
    });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('the timeout counts from the time when the server knew of the start', async () => {
    const body = aSpawn(sleeper(uniqueSeconds()), { timeoutSeconds: 2, graceSeconds: 0 });
    let acceptedAt = Infinity;
    world.server.refuseReports = async ([report]) => {
      if (report?.event !== 'started') return undefined;
      await setTimeout(700);
      acceptedAt = Date.now();
      return undefined;
    };
    await world.gateway.spawn(body);
    const end = await world.server.endOf(body.runId);
    world.server.refuseReports = () => undefined;
    expect(end).toMatchObject({ error: { class: 'timeout' } });
    expect(Date.parse(end.at) - acceptedAt).toBeGreaterThanOrEqual(1_990);
  });

  test('a missing command is reported as a setup failure', async () => {
    const body = aSpawn('', { command: ['no-such-program-anywhere'] });
    await world.gateway.spawn(body);
    expect(await world.server.endOf(body.runId)).toMatchObject({
      event: 'failed',
      error: { class: 'setup', message: expect.stringContaining('not found') },
    });
  });

  test('the gateway stops a session by heartbeat and by long poll', async () => {
    const bodies = [aSpawn(sleeper(uniqueSeconds())), aSpawn(sleeper(uniqueSeconds()))] as const;
    for (const body of bodies) await world.gateway.spawn(body);
    for (const body of bodies) await world.untilStatus(body.runId, 'RUNNING');
    world.server.stops.push({ runId: bodies[0].runId, reason: 'lease_expired', graceSeconds: 5 });
    world.server.orders.push({
      runId: bodies[1].runId,
      action: 'pause',
      reason: 'paused',
      graceSeconds: 5,
    });
    for (const [index, reason] of ['lease_expired', 'pause'].entries()) {
      const { runId = '' } = bodies[index] ?? {};
      expect(await world.server.endOf(runId)).toMatchObject({
        error: { message: expect.stringContaining(reason) },
      });
    }
  });

  test('a session of a completed run exits by itself and is listed as completed', async () => {
    const seconds = uniqueSeconds();
    const body = aSpawn(`trap 'echo asked' TERM; sleep ${seconds}; exit 7`);
    await world.gateway.spawn(body);
    const { id } = await world.untilStatus(body.runId, 'RUNNING');
    await waitFor('it to sleep', () => processesWith(seconds).length > 0);
    world.server.stops.push({ runId: body.runId, reason: 'completed', graceSeconds: 5 });
    expect(await world.gateway.said('Run completed')).toMatchObject({ sessionId: id });
    for (const pid of processesWith(seconds)) process.kill(pid, 'SIGKILL');
    const end = await world.server.endOf(body.runId);
    expect([end.exitCode, end.error]).toEqual([7, undefined]);
    expect(end.output ?? '').not.toContain('asked');
    const session = await world.gateway.session(id);
    expect(session).toMatchObject({ status: 'COMPLETED', exitCode: 7, error: null });
  });

  test('a session learns the code and the words of its stop', async () => {
    const seconds = uniqueSeconds();
    const answering = (wait: string, more = {}) =>
      aSpawn(`trap 'cat "$DROVER_SIGNALS_FILE"; exit 0' TERM; sleep ${wait} & wait`, more);
    const [paused, cancelled] = [answering(seconds), answering(seconds)];
    const stopped = answering(seconds);
    const late = answering(uniqueSeconds(), { timeoutSeconds: 1 });
    for (const body of [paused, cancelled, stopped, late]) await world.gateway.spawn(body);
    await waitFor('three to sleep', () => processesWith(seconds).length === 3);
    const order = { graceSeconds: 5 };
    world.server.orders.push(
      { ...order, runId: paused.runId, action: 'pause', reason: 'the source changes' },
      { ...order, runId: cancelled.runId, action: 'stop', reason: 'cancelled' },
    );
    await world.gateway.ask('DELETE', `/api/sessions/${stopped.runId}`);
    const readSignal = async ({ runId }: { runId: string }) => {
      const { action, reason, message } = JSON.parse(
        (await world.server.endOf(runId)).output ?? '{}',
      ) as Record<string, unknown>;
      return [action, reason, message];
    };
    expect(await readSignal(paused)).toEqual(['pause', 'pause', 'the source changes']);
    expect(await readSignal(cancelled)).toEqual(['stop', 'cancelled', undefined]);
    expect(await readSignal(stopped)).toEqual(['stop', 'asked', 'stopped through the API']);
    expect(await readSignal(late)).toEqual(['stop', 'timeout', 'Ran longer than its 1 s']);
  });

  test('heartbeats list the sessions', async () => {
    const body = aSpawn(sleeper(uniqueSeconds()));
    const { session } = (await world.gateway.spawn(body)).body;
    const heartbeat = await waitFor('a heartbeat with it', () =>
      world.server.heartbeats.find(({ sessions }) =>
        sessions.some((one) => one.runId === body.runId && one.status === 'RUNNING'),
      ),
    );
    expect(heartbeat).toMatchObject({
      gatewayId: world.gateway.gatewayId,
      bootId: world.gateway.bootId,
      draining: false,
      capacity: 10,
    });
    expect(heartbeat.sessions).toContainEqual({
      runId: body.runId,
      sessionKey: session?.sessionKey,
      status: 'RUNNING',
    });
    expect(world.server.refused).toEqual([]);
    const numbers = world.server.heartbeats.map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    await world.gateway.ask('DELETE', `/api/sessions/${body.runId}`);
  });

  test('a session without a run is not reported to the server', async () => {
    const { status, body } = await world.gateway.ask('POST', '/api/sessions/spawn', {
      sessionLabel: 'chat',
      prompt: 'Hello',
      command: ['sh', '-c', 'grep -q Hello "$DROVER_TASK_FILE" && exit $DEPTH'],
      env: { DEPTH: '4' },
    });
    expect([status, body.session?.runId]).toEqual([201, null]);
    const id = body.session?.id ?? '';
    await world.untilStatus(id, 'FAILED');
    expect(await world.gateway.session(id)).toMatchObject({ exitCode: 4, label: 'chat' });
    const list = await world.gateway.ask('GET', '/api/sessions?view=sessions&status=FAILED');
    expect(list.body.sessions?.map((one) => one.id)).toContain(id);
    expect(list.body['gateway']).toMatchObject({ id: world.gateway.gatewayId, capacity: 10 });
    expect(world.server.reports.some(({ sessionKey }) => sessionKey.endsWith(id))).toBe(false);
  });
});

describe('A gateway with settings', () => {
  const world = oneGateway({
    GATEWAY_ALLOWED_EXECUTABLES: 'sh, /bin/true',
    GATEWAY_SESSIONS_API_URL: 'http://elsewhere:3000',
    GATEWAY_ID: 'gateway-of-the-test',
    GATEWAY_EXIT_GRACE_SECONDS: '1',
  });

  test('a session that outlives its completed run is stopped as completed', async () => {
    const body = aSpawn(sleeper(uniqueSeconds()));
    await world.gateway.spawn(body);
    await world.untilStatus(body.runId, 'RUNNING');
    world.server.orders.push({
      runId: body.runId,
      action: 'stop',
      reason: 'completed',
      graceSeconds: 5,
    });
    expect(await world.server.endOf(body.runId)).toMatchObject({ signal: 'SIGTERM' });
    const session = await world.gateway.session(body.runId);
    expect(session).toMatchObject({ status: 'COMPLETED', error: null });
  });

  test("the session key has the gateway's name, and sessions get the set address", async () => {
    const body = aSpawn('echo "$DROVER_API_URL $DROVER_SESSION_KEY"');
    await world.gateway.spawn(body);
    const { output } = await world.server.endOf(body.runId);
    expect(output).toContain('http://elsewhere:3000/api/v1 gateway:gateway-of-the-test:');
  });

  test.each([
    [['sh', '-c', 'exit 0'], 'exited'],
    [['/bin/true'], 'exited'],
    [['true'], 'failed'],
    [['/bin/sh', '-c', 'exit 0'], 'failed'],
    [['./sh'], 'failed'],
  ])('the command %j has the result %s', async (command, event) => {
    const body = aSpawn('', { command });
    expect((await world.gateway.spawn(body)).status).toBe(201);
    const end = await world.server.endOf(body.runId);
    expect(end.event).toBe(event);
    if (event === 'failed') expect(end.error?.class).toBe('setup');
  });

  test("a refused program is named in a message within the server's limits", async () => {
    const body = aSpawn('', { command: [`${'x'.repeat(199)}😀`] });
    await world.gateway.spawn(body);
    const { error } = await world.server.endOf(body.runId);
    expect(error?.message).toContain(`"${'x'.repeat(199)}\uFFFD"`);
  });
});
