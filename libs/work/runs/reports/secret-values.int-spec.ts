import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  startTestApp,
  type TestAgent,
  type TestApp,
  type TestWorkspace,
} from '../../../../test/support/app.js';
import { apiClient } from '../../../../test/support/api-client.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { HeartbeatFlusher } from '#lib/agent-manager';
import { Database } from '#lib/database';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { secretsOfHolders, TaskSecrets, ValuesAtHand } from '#lib/secrets';
import { RunReports } from './run-reports.js';
import { RunSecrets } from './run-secrets.js';

interface Task {
  id: string;
  status: string;
  [field: string]: unknown;
}
interface Held {
  run: { id: string; token: string };
  task: Task;
}

const HIDDEN = '[redacted]';

let server: TestApp;
let workspace: TestWorkspace;
let agent: TestAgent;
/** Only the name of its field marks it as a secret. */
let secret: string;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
  agent = await workspace.newAgent({ maxConcurrentTasks: 10 });
  secret = `wintergreen+${newId()}`;
});
afterAll(() => server.stop());

async function claimTask(values: Record<string, unknown> = {}): Promise<Held> {
  const wanted = { title: 'A task', taskType: 'test', inputContext: { apiKey: secret }, ...values };
  const created = await workspace.api.post<Task>('/agent-tasks', wanted);
  expect([created.status, created.body]).toEqual([201, expect.anything()]);
  return claim();
}

async function claim(): Promise<Held> {
  const { body } = await agent.api.post<{ tasks: Held[] }>(`/agents/${agent.id}/claim`, {
    maxTasks: 1,
  });
  const [one] = body.tasks;
  if (!one) throw new Error('There was nothing to claim');
  return one;
}

type Path = (run: Held, report: string) => string;
const byRun: Path = ({ run }, report) => `/runs/${run.id}/${report}`;
const byTask: Path = ({ task }, report) => `/agent-tasks/${task.id}/${report}`;

async function post(one: Held, path: string, body: Record<string, unknown>, method = 'POST') {
  const named = path.startsWith('/runs/') ? body : { ...body, runId: one.run.id };
  const send = { POST: agent.api.post, PATCH: agent.api.patch, PUT: agent.api.put }[method];
  const answer = await send?.(path, named);
  expect([path, answer?.status, answer?.body]).toEqual([
    path,
    expect.any(Number),
    expect.anything(),
  ]);
  expect(answer?.status).toBeLessThan(300);
  expect(JSON.stringify(answer?.body)).not.toContain(secret);
}

const get = async <Body = Task>(path: string): Promise<Body> =>
  (await workspace.api.get<Body>(path)).body;

/** Every answer that people can request about a task. */
async function readViews(id: string): Promise<string> {
  const paths = ['', '/logs', '/runs', '/explain', '/dependencies'].map(
    (part) => `/agent-tasks/${id}${part}`,
  );
  const bodies = await Promise.all([...paths, '/agent-tasks'].map((path) => get<unknown>(path)));
  return JSON.stringify(bodies);
}

async function expectNowhere(id: string, text = secret): Promise<void> {
  expect(await readViews(id)).not.toContain(text);
  expect(await tablesWith(server, text)).toEqual([]);
}

describe.each([
  ['the run', byRun],
  ['the task', byTask],
])('a secret value reported by the path of %s', (_, path) => {
  it('a secret value appears nowhere during the run', async () => {
    const one = await claimTask();
    await post(one, path(one, 'start'), {});
    const words = `got ${secret}.`;
    await post(one, path(one, 'progress'), { currentStep: words }, 'PATCH');
    const details = { deep: [{ words }], [`is ${secret}`]: 1 };
    const entries = [{ message: words }, { message: 'x', event: secret, details }];
    await post(one, path(one, 'logs'), { entries });
    await post(one, path(one, 'logs'), { entries: [{ details: { deep: [{ words }] } }] });
    const asUrl = [{ message: `https://a.example/?q=${encodeURIComponent(secret)}` }];
    await post(one, path(one, 'logs'), { entries: asUrl });
    await expectNowhere(one.task.id);
    await expectNowhere(one.task.id, encodeURIComponent(secret));
    expect(await get(`/agent-tasks/${one.task.id}`)).toMatchObject({
      currentStep: `got ${HIDDEN}.`,
    });
    const logs = await get<{ items: object[] }>(`/agent-tasks/${one.task.id}/logs`);
    expect(logs.items).toContainEqual(expect.objectContaining({ message: `got ${HIDDEN}.` }));
    expect(logs.items).toContainEqual(
      expect.objectContaining({ details: { deep: [{ words: `got ${HIDDEN}.` }] } }),
    );
  });

  it('a secret value appears nowhere after the run, except in a later run', async () => {
    const first = await claimTask();
    const checkpointData = { left: [`at ${secret}`, 'and more'], ['not a name']: { [secret]: 7 } };
    await post(first, path(first, 'start'), {});
    await post(first, path(first, 'checkpoint'), { checkpointData: { was: secret } }, 'PUT');
    const error = { message: `401 for ${secret}`, stackTrace: `at f(${secret})` };
    await post(first, path(first, 'fail'), { error, checkpointData });
    await expectNowhere(first.task.id);
    const failed = await get(`/agent-tasks/${first.task.id}`);
    expect(failed).toMatchObject({
      lastError: `401 for ${HIDDEN}`,
      checkpointData: { left: [`at ${HIDDEN}`, 'and more'], ['not a name']: HIDDEN },
    });
    await workspace.api.post(`/agent-tasks/${first.task.id}/retry`, {});

    const second = await claim();
    expect(second.task).toMatchObject({ checkpointData, inputContext: { apiKey: secret } });
    await post(second, path(second, 'start'), {});
    await post(second, path(second, 'release'), { reason: `no more of ${secret}`, checkpointData });
    await expectNowhere(second.task.id);
    await workspace.api.post(`/agent-tasks/${first.task.id}/retry`, {});
    const third = await claim();
    expect(third.task).toMatchObject({ checkpointData });
    const done = { outputResult: { text: `used ${secret}`, n: 1 }, summary: `With ${secret}` };
    await post(third, path(third, 'start'), {});
    await post(third, path(third, 'complete'), done);
    await expectNowhere(third.task.id);
    expect(await get(`/agent-tasks/${third.task.id}`)).toMatchObject({
      outputResult: { text: `used ${HIDDEN}`, n: 1 },
      summary: `With ${HIDDEN}`,
    });
  });
});

it('a secret value is hidden as a number, in a text and in metadata', async () => {
  const pin = 48_151_623;
  const inputContext = { pins: { apiPassword: pin }, url: `postgres://u:${secret}@db.example/x` };
  const one = await claimTask({
    inputContext,
    metadata: { credentials: { name: 'jo', is: 'correct-horse' } },
  });
  await post(one, byRun(one, 'start'), {});
  const entries = [{ message: `${pin} ${secret} correct-horse jo`, details: { pin, list: [pin] } }];
  await post(one, byRun(one, 'logs'), { entries });
  const logs = await get<{ items: object[] }>(`/agent-tasks/${one.task.id}/logs?event=output`);
  expect(logs.items).toMatchObject([
    { message: `${HIDDEN} ${HIDDEN} ${HIDDEN} jo`, details: { pin: HIDDEN, list: [HIDDEN] } },
  ]);
});

it('a secret value named in a checkpoint or the same report is hidden', async () => {
  const one = await claimTask({ inputContext: {} });
  await post(one, byRun(one, 'start'), {});
  await post(one, byRun(one, 'logs'), { entries: [{ message: 'nothing is secret yet' }] });
  const checkpointData = { session: { cookie: secret } };
  const currentStep = `begun as ${secret}`;
  await post(one, byRun(one, 'progress'), { currentStep, checkpointData }, 'PATCH');
  await post(one, byRun(one, 'logs'), { entries: [{ message: `as ${secret}` }] });
  await post(one, byRun(one, 'complete'), { summary: secret });
  await expectNowhere(one.task.id);
});

it('a secret value is hidden in the last output of a session, also after its run', async () => {
  const one = await claimTask();
  await post(one, byRun(one, 'start'), {});
  await post(one, byRun(one, 'complete'), {});
  const by = { workspaceId: workspace.id, agentId: agent.id, runId: one.run.id };
  const reports = server.app.get(RunReports, { strict: false });
  const words = { message: `bye ${secret}`, at: new Date().toISOString() };
  await reports.lastWords({ ...by, actor: { kind: 'system', id: null } }, words);
  const logs = await get<{ items: object[] }>(
    `/agent-tasks/${one.task.id}/logs?event=session_output`,
  );
  expect(logs.items).toMatchObject([{ message: `bye ${HIDDEN}` }]);
  await expectNowhere(one.task.id);
});

it('short secret values, and secret values of other tasks, are not hidden', async () => {
  const short = await claimTask({ inputContext: { pin: 1, password: 'abcde' } });
  await post(short, byRun(short, 'start'), {});
  await post(short, byRun(short, 'progress'), { currentStep: 'in abcde' }, 'PATCH');
  expect(await get(`/agent-tasks/${short.task.id}`)).toMatchObject({ currentStep: 'in abcde' });
  await claimTask();
  const other = await claimTask({ inputContext: { words: 'plain' } });
  await post(other, byRun(other, 'start'), {});
  const texts = { outputResult: { [secret]: [secret, 123_456] }, summary: `on ${secret}` };
  // Without the helper: this answer may hold the secret.
  expect((await agent.api.post(byRun(other, 'complete'), texts)).status).toBe(200);
  expect(await get(`/agent-tasks/${other.task.id}`)).toMatchObject(texts);
});

describe('the known secret values of a run', () => {
  const reporter = (one: Held) => ({
    workspaceId: workspace.id,
    agentId: agent.id,
    runId: one.run.id,
    actor: { kind: 'agent' as const, id: agent.id },
  });
  /** Counts the statements that look for secrets. */
  function countReads() {
    let statements = 0;
    const warnings: string[] = [];
    const { database } = server.db;
    const counted = {
      tenant: (id: string) => ({
        rows: (...args: Parameters<ReturnType<typeof database.tenant>['rows']>) => {
          statements += 1;
          return database.tenant(id).rows(...args);
        },
      }),
    } as unknown as typeof database;
    const logger = { warn: (text: string) => warnings.push(text) } as unknown as Logger;
    const taskSecrets = server.app.get(TaskSecrets, { strict: false });
    const secrets = new RunSecrets(counted, taskSecrets, new ValuesAtHand(), logger);
    return { secrets, warnings, count: () => statements };
  }

  it('secret values are read once for concurrent reports', async () => {
    const [one, other] = [await claimTask(), await claimTask({ inputContext: {} })];
    const { secrets, count } = countReads();
    const look = async () => {
      const found = await Promise.all([one, other, one].map((run) => secrets.of(reporter(run))));
      return found.map((values) => values.redact(secret));
    };
    for (let round = 0; round < 3; round++) expect(await look()).toEqual([HIDDEN, secret, HIDDEN]);
    expect(count()).toBe(1);
    secrets.forget(reporter(one));
    expect(await look()).toEqual([HIDDEN, secret, HIDDEN]);
    expect(count()).toBe(2);
  });

  it('unreadable secret values cause one warning, and patterns stay hidden', async () => {
    const one = await claimTask({ metadata: { token: 'correct-horse' } });
    await server.db.owner.query(
      `UPDATE task_secrets SET sealed = '{"apiKey": "drover-sealed:1:x:AAAA:"}'
       WHERE task_id = $1 AND column_name = 'input_context'`,
      [one.task.id],
    );
    const { secrets, warnings } = countReads();
    for (let round = 0; round < 2; round++) {
      const values = await secrets.of(reporter(one));
      expect(values.redact(`${secret} correct-horse token=abcdef`)).toBe(
        `${secret} ${HIDDEN} token=${HIDDEN}`,
      );
      secrets.forget(reporter(one));
    }
    expect(warnings).toHaveLength(1);
  });

  it('an empty completion does not read the secret values', async () => {
    const one = await claimTask();
    const secrets = server.app.get(RunSecrets, { strict: false });
    const asked: string[] = [];
    const { of } = secrets;
    secrets.of = (by) => {
      asked.push(by.runId);
      return of.call(secrets, by);
    };
    try {
      await post(one, byRun(one, 'start'), {});
      await post(one, byRun(one, 'progress'), { progressPercent: 10 }, 'PATCH');
      await post(one, byRun(one, 'complete'), { outputResult: { ok: true, n: 12 }, summary: '' });
      expect(asked).toEqual([]);
    } finally {
      secrets.of = of;
    }
  });
});

describe('a secret value outside of reports', () => {
  it('a secret value in the id of a usage report is refused, and one in its operation hidden', async () => {
    const one = await claimTask();
    const tokens = { model: 'claude-sonnet-4', inputTokens: 1, outputTokens: 1 };
    const report = (values: object) =>
      agent.api.post(byRun(one, 'usage'), { reports: [{ id: 'u-1', ...tokens, ...values }] });
    expect(await report({ id: `u-${secret}` })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'reports[0].id', message: 'must not contain a secret' }] },
    });
    const usage = [{ id: `u-${secret}`, ...tokens }];
    expect(await agent.api.post(byRun(one, 'complete'), { usage })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'usage[0].id', message: 'must not contain a secret' }] },
    });
    expect((await report({ operation: `with ${secret}` })).status).toBe(200);
    const { rows } = await server.db.owner.query('SELECT id, operation FROM agent_usage_logs');
    expect(rows).toContainEqual({ id: 'u-1', operation: `with ${HIDDEN}` });
    await expectNowhere(one.task.id);
  });

  it('a secret value in a heartbeat appears nowhere during the run', async () => {
    const one = await claimTask();
    const words = `got ${secret}.`;
    const metadata = { words, [secret]: 1 };
    const said = { status: 'healthy', currentStep: words, metadata };
    await agent.api.post(`/agents/${agent.id}/heartbeat`, said);
    await server.app.get(HeartbeatFlusher, { strict: false }).flush();
    const { items } = await get<{ items: object[] }>(`/agents/${agent.id}/heartbeats`);
    expect(items).toMatchObject([{ currentStep: `got ${HIDDEN}.` }]);
    expect(await get(`/agents/${agent.id}/health`)).toMatchObject({
      currentStep: `got ${HIDDEN}.`,
    });
    await expectNowhere(one.task.id);
  });

  it('a secret value in a heartbeat that arrives after the end of the run appears nowhere', async () => {
    const one = await claimTask();
    await post(one, byRun(one, 'start'), {});
    await post(one, byRun(one, 'complete'), { outputResult: { ok: true } });
    const said = { status: 'healthy', currentStep: `late ${secret}.` };
    await agent.api.post(`/agents/${agent.id}/heartbeat`, said);
    await server.app.get(HeartbeatFlusher, { strict: false }).flush();
    expect(await get(`/agents/${agent.id}/health`)).toMatchObject({
      currentStep: `late ${HIDDEN}.`,
    });
    await expectNowhere(one.task.id);
  });

  it('a secret value in the last heartbeat before a server ends appears nowhere', async () => {
    const one = await claimTask();
    const ending = await startTestApp({ ROLES: 'api', HEARTBEAT_FLUSH_MS: '10000' }, server.db);
    const api = apiClient(ending.url, { authorization: `Bearer ${agent.token}` });
    const say = (currentStep: string) =>
      api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy', currentStep });
    await say(`first ${secret}.`);
    await ending.app.get(HeartbeatFlusher, { strict: false }).flush();
    await post(one, byRun(one, 'start'), {});
    await post(one, byRun(one, 'complete'), { outputResult: { ok: true } });
    await say(`last ${secret}.`);
    await ending.app.close();
    expect(await get(`/agents/${agent.id}/health`)).toMatchObject({
      currentStep: `last ${HIDDEN}.`,
    });
    await expectNowhere(one.task.id);
  });

  it('a secret value in a heartbeat to a server that never met the run appears nowhere', async () => {
    const one = await claimTask();
    const stranger = await startTestApp({ ROLES: 'api' }, server.db);
    try {
      const api = apiClient(stranger.url, { authorization: `Bearer ${agent.token}` });
      const flusher = stranger.app.get(HeartbeatFlusher, { strict: false });
      const { service } = stranger.app.get(Database, { strict: false });
      const rows = jest.spyOn(service, 'rows');
      const reads = () => rows.mock.calls.filter(([sql]) => sql === secretsOfHolders).length;
      const say = async (currentStep: string) => {
        await api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy', currentStep });
        await flusher.flush();
        return get(`/agents/${agent.id}/health`);
      };
      await say('idle');
      expect(reads()).toBe(0);
      expect(await say(`first ${secret}.`)).toMatchObject({ currentStep: `first ${HIDDEN}.` });
      expect(await say(`first ${secret}.`)).toMatchObject({ currentStep: `first ${HIDDEN}.` });
      expect(reads()).toBe(1);
      // A run that begins later.
      const first = secret;
      secret = `other+${newId()}`;
      const other = await claimTask();
      expect(await say(`${first} and ${secret}`)).toMatchObject({
        currentStep: `${HIDDEN} and ${HIDDEN}`,
      });
      await expectNowhere(other.task.id);
      secret = first;
      await expectNowhere(one.task.id);
    } finally {
      await stranger.app.close();
    }
  });

  it.each(['pause', 'cancel'])(
    'a secret value in the reason to %s appears nowhere',
    async (command) => {
      const one = await claimTask();
      const reason = `it wrote ${secret} down`;
      await workspace.api.post(`/agent-tasks/${one.task.id}/${command}`, { reason });
      expect(await readViews(one.task.id)).toContain(`it wrote ${HIDDEN} down`);
      await expectNowhere(one.task.id);
    },
  );

  it('a secret value in the reason for other changes appears nowhere', async () => {
    const [one, other] = [await claimTask(), await claimTask()];
    const reason = `it wrote ${secret} down`;
    await workspace.api.patch(`/agent-tasks/${one.task.id}`, { status: 'PAUSED', reason });
    const ids = [one.task.id, other.task.id];
    await workspace.api.post('/agent-tasks/bulk/cancel', { ids, reason });
    for (const id of ids) {
      expect(await readViews(id)).toContain(`it wrote ${HIDDEN} down`);
      await expectNowhere(id);
    }
  });
});
