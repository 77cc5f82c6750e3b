import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { type AgentValues, aUser } from '../../../../test/support/factories.js';
import { aDependency, aHeldTask, aTask } from '../../../../test/support/task-factories.js';
import { ALL_REASONS } from '../domain/explain.js';
import { AWAITS, GATEWAY, HELD_RUN, QUESTION, SPAWN, WAITING } from '../testing/rows.js';
import { REFUSED_MODELS, THROTTLE, USED_BUDGET } from '../../../../test/support/holds.js';
import { TaskExplainer } from './task-explainer.js';

/** Situations in the database, each reason alone and several at once. */

interface Explanation {
  reasons: { code: string; message: string; facts: Record<string, unknown> }[];
  estimate: { start: unknown; unknownBecause: string | null };
}

let server: TestApp;
let workspace: TestWorkspace;
let taskId: string;
let operatorId: string;

beforeAll(async () => {
  // Nobody assigns or recovers, so the rows stay unchanged.
  server = await startTestApp({ ROLES: 'api', GATEWAY_URL: 'http://127.0.0.1:9' });
  operatorId = await aUser(server.db.owner, { isOperator: true });
});
beforeEach(async () => {
  await sql('DELETE FROM gateways');
  await sql('UPDATE installation_pauses SET ended_at = now()');
  workspace = await server.newWorkspace();
  taskId = await aTask(server.db.owner, workspace.id, { taskType: 'mine' });
});
afterAll(() => server.stop());

const sql = (text: string, params: unknown[] = []) => server.db.owner.query(text, params);
const ofTask = (assignments: string) =>
  sql(`UPDATE agent_tasks SET ${assignments} WHERE workspace_id = $1 AND id = $2`, [
    workspace.id,
    taskId,
  ]);

async function agent(values: AgentValues = {}): Promise<string> {
  return (await workspace.newAgent(values)).id;
}
async function fullAgent(): Promise<void> {
  const agentId = await agent({ maxConcurrentTasks: 2 });
  const where = { workspaceId: workspace.id, agentId };
  await aHeldTask(server.db.owner, where);
  await aHeldTask(server.db.owner, where);
}
async function silentAgent(): Promise<void> {
  await sql(
    `INSERT INTO agent_heartbeats (workspace_id, agent_id, status, last_seen_at)
     VALUES ($1, $2, 'healthy', now() - interval '1 hour')`,
    [workspace.id, await agent()],
  );
}
async function pushAgent(assignments = `command = '{node}'`): Promise<string> {
  const id = await agent({ mode: 'push' });
  await sql(`UPDATE agents SET ${assignments} WHERE workspace_id = $1 AND id = $2`, [
    workspace.id,
    id,
  ]);
  return id;
}
async function fullPushAgent(): Promise<void> {
  const agentId = await pushAgent(`command = '{node}', max_concurrent_tasks = 1`);
  await aHeldTask(server.db.owner, { workspaceId: workspace.id, agentId });
}
async function gateway(values: { capacity?: number; draining?: boolean } = {}): Promise<void> {
  await sql(GATEWAY, [newId(), values.capacity ?? 100, values.draining ?? false]);
}
async function pause(taskType: string | null, until: string | null = null): Promise<void> {
  await sql(
    `INSERT INTO pauses (workspace_id, id, task_type, reason, paused_by, until)
     VALUES ($1, uuidv7(), $2, 'moving', $3, $4)`,
    [workspace.id, taskType, workspace.userId, until],
  );
}
async function everythingPaused(): Promise<void> {
  await sql(
    `INSERT INTO installation_pauses (id, reason, paused_by) VALUES (uuidv7(), 'upgrade', $1)`,
    [operatorId],
  );
}
const holds = (text: string) => () => sql(text, [workspace.id]);
const throttled = holds(THROTTLE);
const budget = holds(USED_BUDGET);
const refusedModel = holds(REFUSED_MODELS);
const ownModels = holds('UPDATE model_routing SET enabled = false WHERE workspace_id = $1');
async function agentOfRefusedModel(): Promise<void> {
  await sql(`UPDATE agents SET model = 'claude-sonnet-4-6' WHERE id = $1`, [await agent()]);
}
async function rate(perMinute: number): Promise<void> {
  await sql('INSERT INTO workspace_limits (workspace_id, spawns_per_minute) VALUES ($1, $2)', [
    workspace.id,
    perMinute,
  ]);
}
type OtherStatus = 'PENDING' | 'FAILED' | 'ABORTED' | 'PAUSED';
/**
 * @returns the id of the prerequisite
 */
async function waitsFor(status: OtherStatus, by = taskId, title = 'Build'): Promise<string> {
  const dependsOnId = await aTask(server.db.owner, workspace.id, {
    status,
    title,
    requiredCapabilities: ['elsewhere'],
  });
  await aDependency(server.db.owner, workspace.id, { taskId: by, dependsOnId });
  return dependsOnId;
}
async function waitsForAChain(): Promise<void> {
  await waitsFor('FAILED', await waitsFor('PENDING'), 'Fetch');
}
async function queue(count: number): Promise<void> {
  await sql(WAITING, [workspace.id, count]);
}
const retry = () => ofTask(AWAITS.retry);
async function heldBy(agentId: string): Promise<string> {
  const runId = newId();
  await sql(HELD_RUN, [workspace.id, agentId, runId, taskId]);
  return runId;
}
/** Its agent has been warned twice that it goes in circles. */
async function circling(): Promise<void> {
  const runId = await heldBy(await agent());
  const line = `INSERT INTO task_log_lines (workspace_id, task_id, run_id, event, message, actor_kind)
    VALUES ($1, $2, $3, 'agent_circle', $4, 'agent')`;
  for (const message of ['It is told so.', 'It is interrupted.']) {
    await sql(line, [workspace.id, taskId, runId, message]);
  }
}
async function spawned(): Promise<void> {
  const agentId = await pushAgent();
  const runId = await heldBy(agentId);
  await sql(SPAWN, [workspace.id, runId, taskId, agentId]);
}
const asked = () => sql(QUESTION, [workspace.id, taskId]);
const submitted = async () => {
  const repository = `INSERT INTO repositories (workspace_id, id, name, url) VALUES ($1, $2::uuid, $2::uuid::text, 'x')`;
  await sql(repository, [workspace.id, taskId]);
  await sql(
    `INSERT INTO changes (workspace_id, task_id, repository_id, target, state, submitted_at)
     VALUES ($1, $2, $2, 'main', 'IN_REVIEW', now())`,
    [workspace.id, taskId],
  );
};
const ended = (assignments: string) => () => ofTask(assignments);

async function explain(): Promise<Explanation> {
  const { status, body } = await workspace.api.get<Explanation>(`/agent-tasks/${taskId}/explain`);
  expect(status).toBe(200);
  return body;
}

type Make = () => Promise<unknown>;
type Expected = [code: string, facts?: Record<string, unknown>];
const own = (): Make[] => [() => agent()];
const push = (...more: Make[]): Make[] => [() => pushAgent(), () => gateway(), ...more];

const alone: [string, Make[], Expected, unknownBecause?: string][] = [
  ['no agent', [], ['no_capable_agent', { missingCapabilities: [] }], 'no_agent'],
  ['a free agent', own(), ['waiting_for_claim', { count: 1 }], 'no_history'],
  ['a push agent', push(), ['waiting_for_assignment', { count: 1 }], 'no_history'],
  [
    'a full agent',
    [fullAgent],
    ['agents_full', { agents: [{ liveRuns: 2, maxConcurrentTasks: 2 }] }],
  ],
  ['one in ERROR', [() => agent({ lifecycle: 'ERROR' })], ['agents_in_error'], 'no_agent'],
  ['one that drains', [() => agent({ lifecycle: 'DRAINING' })], ['agents_draining'], 'no_agent'],
  ['a silent one', [silentAgent], ['agents_offline', { count: 1 }], 'no_agent'],
  ['one that is new', [() => agent({ lifecycle: 'STARTING' })], ['agents_offline'], 'no_agent'],
  [
    'one that is switched off',
    [() => pushAgent('coordinator_enabled = false')],
    ['agents_disabled'],
    'no_agent',
  ],
  ['one for others', [() => pushAgent(`task_types = '{x}'`)], ['agents_reserved'], 'no_agent'],
  ['one without a command', [() => pushAgent(`command = '{}'`)], ['agents_without_command']],
  [
    'one that rests',
    [() => pushAgent(`command = '{node}', resting_until = now() + interval '1 minute'`)],
    ['agents_resting', { agents: [{ restingUntil: expect.any(String) }] }],
    'no_agent',
  ],
  ['no gateway', [() => pushAgent()], ['gateway_unreachable', { configured: true }], 'no_agent'],
  [
    'a leaving gateway',
    [() => pushAgent(), () => gateway({ draining: true })],
    ['gateway_draining', { gateways: 1 }],
    'no_agent',
  ],
  [
    'a full gateway',
    [() => pushAgent(), () => gateway({ capacity: 0 })],
    ['gateway_full', { gateways: 1 }],
  ],
  [
    'a rate of none',
    push(() => rate(0)),
    ['spawn_rate_reached', { scope: 'workspace', perMinute: 0 }],
    'spawn_rate',
  ],
  [
    'a dependency',
    [...own(), () => waitsFor('PENDING')],
    ['waiting_for_dependency', { title: 'Build', status: 'PENDING', policy: 'block' }],
    'waiting_for_dependency',
  ],
  [
    'a dependency that failed',
    [...own(), () => waitsFor('FAILED')],
    ['dependency_failed', { status: 'FAILED', policy: 'block' }],
    'dependency_failed',
  ],
  [
    'a pause of its own',
    [
      ...own(),
      ended(
        `status = 'PAUSED', paused_at = now(), paused_by = 'user:1', paused_for = 'request', pause_reason = 'lunch'`,
      ),
    ],
    ['paused', { by: 'user:1', reason: 'lunch' }],
    'paused',
  ],
  [
    'a question',
    [
      ...own(),
      asked,
      ended(
        `status = 'PAUSED', paused_at = now(), paused_by = 'run:1', paused_for = 'question', pause_reason = 'question'`,
      ),
    ],
    ['waiting_for_answer', { prompt: 'Which?', onDeadline: 'fail', default: null }],
    'paused',
  ],
  [
    'a review of its change',
    [
      ...own(),
      submitted,
      ended(
        `status = 'PAUSED', paused_at = now(), paused_by = 'agent:1', paused_for = 'review', pause_reason = 'review'`,
      ),
    ],
    ['waiting_for_review', { state: 'IN_REVIEW', target: 'main', obstacle: null }],
    'paused',
  ],
  [
    'a pause of its type',
    [...own(), () => pause('mine'), () => pause('other')],
    ['held_by_pause', { scope: 'task_type', taskType: 'mine', byName: 'A user' }],
    'paused',
  ],
  [
    'a pause of its workspace, for a while',
    [...own(), () => pause(null, '2126-03-01T12:00:00Z')],
    ['held_by_pause', { scope: 'workspace', until: '2126-03-01T12:00:00.000Z' }],
    'no_history',
  ],
  [
    'a pause of everything',
    [...own(), everythingPaused],
    ['held_by_pause', { scope: 'everything', by: 'operator', byName: null, reason: 'upgrade' }],
    'paused',
  ],
  ['a budget', [...own(), budget], ['budget', { scope: 'global', available: '1' }], 'held_back'],
  [
    'a provider',
    [...own(), refusedModel],
    ['provider_limited', { provider: 'anthropic', model: null, kind: 'quota_exhausted' }],
    'held_back',
  ],
  [
    'a provider of an agent’s own model',
    [refusedModel, ownModels, agentOfRefusedModel],
    ['agents_provider_limited', { agents: [{ limitedUntil: expect.any(String) }] }],
    'no_agent',
  ],
  ['a throttle', [...own(), throttled], ['throttled', { maxRuns: 1 }], 'held_back'],
  ['a retry', [...own(), retry], ['waiting_for_retry', { retryCount: 2, abortReason: 'oom' }]],
  [
    'too long a wait',
    [...own(), ended(`queue_expires_at = now() - interval '1 s'`)],
    ['queue_expired'],
    'ended',
  ],
  [
    'a later start',
    [...own(), ended(AWAITS.start)],
    ['waiting_for_start', { debounceKey: 'save' }],
  ],
  ['a missing slot', [...own(), ended(AWAITS.slot)], ['waiting_for_slot', {}], 'held_back'],
  ['an agent that has it', [async () => heldBy(await agent())], ['held_by_run', { generation: 1 }]],
  ['an agent in circles', [circling], ['held_by_run', { circle: 'It is interrupted.' }]],
  [
    'its end',
    [ended(`status = 'COMPLETED', assigned_at = now(), completed_at = now()`)],
    ['completed', { reason: null }],
    'ended',
  ],
  [
    'its failure',
    [ended(`status = 'FAILED', failed_at = now(), failure_reason = 'retries_exhausted'`)],
    ['failed', { reason: 'retries_exhausted' }],
    'ended',
  ],
  [
    'its abort',
    [ended(`status = 'ABORTED', aborted_at = now(), abort_reason = 'cancelled'`)],
    ['aborted', { reason: 'cancelled' }],
    'ended',
  ],
  ['its archive', [ended(`status = 'ARCHIVED', archived_at = now()`)], ['archived'], 'ended'],
];

const several: [string, Make[], Expected[]][] = [
  [
    'every agent has another excuse',
    [
      fullAgent,
      silentAgent,
      () => agent({ lifecycle: 'ERROR' }),
      () => agent({ lifecycle: 'DRAINING' }),
      () => pushAgent('coordinator_enabled = false'),
      () => pushAgent(`command = '{}'`),
      () => pushAgent(),
      () => rate(0),
      () => gateway({ capacity: 0 }),
    ],
    [
      ['agents_full'],
      ['agents_offline'],
      ['agents_in_error'],
      ['agents_draining'],
      ['agents_disabled'],
      ['agents_without_command'],
      ['gateway_full'],
      ['spawn_rate_reached'],
    ] as Expected[],
  ],
  [
    'paused itself, its type, its workspace and everything, and it waits, and nobody could do it',
    [
      everythingPaused,
      () => pause(null),
      () => pause('mine'),
      () => waitsFor('PAUSED'),
      ended(
        `status = 'PAUSED', paused_at = now(), paused_for = 'request', required_capabilities = '{gpu}'`,
      ),
    ],
    [
      ['paused'],
      ['held_by_pause', { scope: 'everything' }],
      ['held_by_pause', { scope: 'workspace' }],
      ['held_by_pause', { scope: 'task_type' }],
      ['waiting_for_dependency', { status: 'PAUSED' }],
      ['no_capable_agent', { missingCapabilities: ['gpu'] }],
    ],
  ],
  [
    'push agents are full, and no gateway is heard',
    [fullPushAgent],
    [['agents_full'], ['gateway_unreachable']],
  ],
  [
    'push agents are full, and so is the gateway, and the rate is none',
    [fullPushAgent, () => gateway({ capacity: 0 }), () => rate(0)],
    [['agents_full'], ['gateway_full'], ['spawn_rate_reached']],
  ],
  [
    'it is to be retried, is paused, and its agents are gone',
    [retry, () => pause('mine'), silentAgent],
    [['waiting_for_retry'], ['held_by_pause'], ['agents_offline']],
  ],
  [
    'two dependencies, one of which failed, and a full agent',
    [fullAgent, () => waitsFor('PENDING'), () => waitsFor('ABORTED')],
    [['dependency_failed', { status: 'ABORTED' }], ['waiting_for_dependency'], ['agents_full']],
  ],
  [
    'a dependency that waits for one that failed',
    [...own(), waitsForAChain, ended(AWAITS.expiry)],
    [
      ['expires_while_waiting'],
      ['waiting_for_dependency', { title: 'Build', status: 'PENDING' }],
      ['waiting_further_up', { title: 'Fetch', status: 'FAILED' }],
    ],
  ],
  ['a replayed failure', [ended(AWAITS.none)], [['failed'], ['replayed', { status: 'FAILED' }]]],
  [
    'a session is being spawned, and no gateway is heard',
    [spawned],
    [
      ['held_by_run'],
      ['session_being_spawned', { attempts: 3, lastError: 'no_answer: password=[redacted]' }],
      ['gateway_unreachable'],
    ],
  ],
  [
    'a long queue',
    [...own(), () => queue(1_000)],
    [['waiting_for_claim'], ['queued_behind', { count: 1_000, isMore: false }]],
  ],
  [
    'a longer one, for full agents',
    [fullAgent, () => queue(1_001)],
    [['agents_full'], ['queued_behind', { count: 1_000, isMore: true }]],
  ],
];

const told = new Set<string>();

type Coded = { code: string };
const byCode = (one: Coded, other: Coded) => one.code.localeCompare(other.code);

/** Exactly these in any order, but those of one code in the given order. */
async function expectReasons(makes: Make[], expected: Expected[]): Promise<Explanation> {
  for (const make of makes) await make();
  const explanation = await explain();
  const wanted = expected.map(([code, facts = {}]) => ({ code, facts }));
  expect(explanation.reasons.toSorted(byCode)).toMatchObject(wanted.toSorted(byCode));
  for (const { code } of wanted) told.add(code);
  return explanation;
}

describe('each reason alone', () => {
  it.each(alone.map(([name, ...rest]) => ({ name, rest })))('$name', async ({ rest }) => {
    const [makes, expected, unknownBecause] = rest;
    const { estimate } = await expectReasons(makes, [expected]);
    if (unknownBecause !== undefined) expect(estimate.unknownBecause).toBe(unknownBecause);
  });

  it('a task of an archived workspace, which the API does not show, is explained', async () => {
    await agent();
    await sql('UPDATE workspaces SET archived_at = now() WHERE id = $1', [workspace.id]);
    const { id: workspaceId, userId } = workspace;
    const owner = { kind: 'user', workspaceId, userId, sessionId: newId(), role: 'OWNER' } as const;
    const explainer = server.app.get(TaskExplainer, { strict: false });
    const { reasons, estimate } = await explainer.explain(owner, taskId);
    expect(reasons).toMatchObject([{ code: 'workspace_archived' }]);
    expect(estimate.unknownBecause).toBe('held_back');
    told.add('workspace_archived');
  });
});

describe('several reasons at once', () => {
  it.each(several)('%s', async (_, makes, expected) => {
    await expectReasons(makes, expected);
  });

  it('more dependencies than are listed are counted', async () => {
    await agent();
    for (let index = 0; index < 102; index++) await waitsFor('PENDING');
    const { reasons, estimate } = await explain();
    expect(reasons).toHaveLength(101);
    expect(reasons.at(-1)).toMatchObject({
      code: 'waiting_for_more_dependencies',
      facts: { count: 2 },
    });
    expect(estimate.unknownBecause).toBe('too_many_dependencies');
    told.add('waiting_for_more_dependencies');
  });
});

it('every code was tested', () => {
  expect([...told].toSorted()).toEqual(Object.keys(ALL_REASONS).toSorted());
});
