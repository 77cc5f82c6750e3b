import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, parseTraceparent, spanIdOf } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { createTestDatabase } from '../../../../test/support/database.js';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { type Receiver, startReceiver } from '../../webhooks/testing/receiver.js';
import { StandInGateway } from '../../../work/runs/sessions/testing/stand-in-gateway.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  attributeOf,
  type Collector,
  type ReceivedSpan,
  startCollector,
} from '../testing/collector.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TITLE = 'a title that is nobody else’s business';

interface Claimed {
  tasks: { run: { id: string; traceparent: string | null }; task: { id: string } }[];
}

let collector: Collector;
let gateway: StandInGateway;
let receiver: Receiver;
let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;

beforeAll(async () => {
  collector = await startCollector();
  gateway = await StandInGateway.start();
  receiver = await startReceiver();
  const env = {
    ...gateway.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
  server = await startTestApp(env);
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 9 });
});

afterEach(() => {
  collector.spans.length = 0;
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
  await collector.stop();
  await receiver.stop();
});

async function newTask(headers: Record<string, string> = {}, values: object = {}) {
  const body = { title: TITLE, taskType: 'review', ...values };
  const { status, body: task } = await workspace.api.post<{ id: string }>(
    '/agent-tasks',
    body,
    headers,
  );
  expect(status).toBe(201);
  return task.id;
}

async function claim(taskId: string) {
  const { body } = await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, { taskId });
  const run = body.tasks[0]?.run;
  if (!run) throw new Error('nothing was claimed');
  return run;
}

const ofTrace = ({ traceId }: ReceivedSpan) => traceId === TRACE;

/** The span, once it has arrived. */
function span(name: string, of: (span: ReceivedSpan) => boolean = ofTrace) {
  return waitFor(`the span "${name}"`, () =>
    collector.spans.find((one) => one.name === name && of(one)),
  );
}

describe('A trace', () => {
  it('a trace continues in the receiver of a webhook below the task', async () => {
    // Spans of it may still arrive during the next test.
    const trace = TRACE.replace('4bf', '5bf');
    const url = receiver.url('/traced');
    const events = ['task.created', 'agent.*'];
    expect((await workspace.api.post('/webhooks', { url, events })).status).toBe(201);
    const taskId = await newTask({ traceparent: `00-${trace}-${CALLER}-01` });
    const [told] = await waitFor('the message', () => {
      const received = receiver.received('/traced');
      return received.length > 0 && received;
    });
    expect(JSON.parse(told?.body ?? '')).toMatchObject({ event: 'task.created', taskId });
    expect(told?.headers['traceparent']).toBe(`00-${trace}-${spanIdOf(taskId)}-01`);
  });

  it("a trace covers the whole life of a task: request, waits, runs and its agent's requests", async () => {
    const taskId = await newTask({ traceparent: `00-${TRACE}-${CALLER}-01` });
    const first = await claim(taskId);
    const error = { message: 'no', class: 'exit_code' };
    await agent.api.post(`/runs/${first.id}/fail`, { error });
    await workspace.api.post(`/agent-tasks/${taskId}/retry`, {});
    const second = await claim(taskId);
    expect(second.traceparent).toBe(`00-${TRACE}-${spanIdOf(second.id)}-01`);
    const told = apiClient(server.url, {
      authorization: `Bearer ${agent.token}`,
      traceparent: second.traceparent ?? '',
    });
    await told.post(`/runs/${second.id}/complete`, {});

    const task = await span('task review');
    const request = await span('POST /api/v1/agent-tasks');
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
    expect(task).toMatchObject({ traceId: TRACE, parentSpanId: request.spanId });
    expect(task.spanId).toBe(spanIdOf(taskId));
    expect(attributeOf(task, 'drover.task.id')).toBe(taskId);
    const runs = await Promise.all(
      [first, second].map(({ id }) => span('run', (one) => one.spanId === spanIdOf(id))),
    );
    expect(runs).toEqual([
      expect.objectContaining({ traceId: TRACE, parentSpanId: task.spanId }),
      expect.objectContaining({ traceId: TRACE, parentSpanId: task.spanId }),
    ]);
    expect(runs.map(({ status }) => status)).toEqual([
      { code: 2, message: 'exit_code' },
      { code: 0 },
    ]);
    const waits = collector.spans.filter(({ name }) => name === 'wait for an agent');
    expect(waits.map(({ parentSpanId }) => parentSpanId)).toEqual([task.spanId, task.spanId]);
    const completion = await span('POST /api/v1/runs/:runId/complete');
    expect(completion).toMatchObject({ traceId: TRACE, parentSpanId: spanIdOf(second.id) });
    for (const { startTimeUnixNano: began, endTimeUnixNano: ended } of [task, ...runs, ...waits]) {
      expect(BigInt(ended)).toBeGreaterThanOrEqual(BigInt(began));
    }
    expect(JSON.stringify(collector.spans)).not.toContain(TITLE);
  });

  it('a trace starts with the request if the caller has none or an invalid one', async () => {
    const taskIds = [
      await newTask(),
      await newTask({ traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }),
    ];
    for (const id of taskIds) {
      const { traceparent } = await claim(id);
      const { traceId = TRACE } = parseTraceparent(traceparent) ?? {};
      expect(traceId).not.toBe(TRACE);
      await span('POST /api/v1/agent-tasks', (one) => one.traceId === traceId);
    }
  });

  it('a trace that the caller does not sample is not exported, but passed on', async () => {
    const unkept = await newTask({ traceparent: `00-${TRACE}-${CALLER}-00` });
    const { id, traceparent } = await claim(unkept);
    expect(traceparent).toBe(`00-${TRACE}-${spanIdOf(id)}-00`);
    await agent.api.post(`/runs/${id}/complete`, {});
    const kept = await newTask();
    await agent.api.post(`/runs/${(await claim(kept)).id}/complete`, {});
    await span('task review', (one) => attributeOf(one, 'drover.task.id') === kept);
    expect(collector.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([]);
  });

  it('a trace continues in the sessions of push agents', async () => {
    const authorization = `Bearer ${gateway.token({ sub: gateway.id })}`;
    await apiClient(server.url, { authorization }).post('/gateway/heartbeat', {
      ...gateway.nextHeartbeat(),
      capacity: 1,
      running: 0,
      queued: 0,
      sessions: [],
    });
    const tenant = await server.newWorkspace();
    const pushed = { name: 'Pushed', mode: 'push', command: ['node', 'session.js'] };
    expect((await tenant.api.put(`/agents/${newId()}`, pushed)).status).toBe(201);
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
    await tenant.api.post('/agent-tasks', { title: TITLE, taskType: 'review' }, headers);
    const spawn = await waitFor('a session', () => gateway.spawns[0]);
    const traceparent = `00-${TRACE}-${spanIdOf(spawn.runId)}-01`;
    expect(spawn.metadata).toEqual({ traceparent });
  });

  it('a trace contains no heartbeats', async () => {
    await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy' });
    const trace = TRACE.replace('4bf', '6bf');
    await newTask({ traceparent: `00-${trace}-${CALLER}-01` });
    await span('POST /api/v1/agent-tasks', ({ traceId }) => traceId === trace);
    expect(collector.spans.filter(({ name }) => name.includes('heartbeat'))).toEqual([]);
  });
});

describe('A server', () => {
  it('a server works while the collector is down', async () => {
    const alone = await startTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    const tenant = await alone.newWorkspace();
    const body = { title: TITLE, taskType: 'review' };
    expect((await tenant.api.post('/agent-tasks', body)).status).toBe(201);
    await alone.stop();
  });

  it('a server without a collector traces nothing and keeps no journal for it', async () => {
    const db = await createTestDatabase();
    await db.owner.query(`INSERT INTO event_consumers (name) VALUES ('traces')`);
    const plain = await startTestApp({}, db);
    const tenant = await plain.newWorkspace();
    const { id, api } = await tenant.newAgent();
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
    await tenant.api.post('/agent-tasks', { title: TITLE, taskType: 'review' }, headers);
    const { body } = await api.post<Claimed>(`/agents/${id}/claim`, {});
    expect(body.tasks[0]?.run.traceparent).toBeNull();
    const { rows } = await db.owner.query(`SELECT name FROM event_consumers WHERE name = 'traces'`);
    expect(rows).toEqual([]);
    await plain.stop();
  });
});
