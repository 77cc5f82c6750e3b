import type pg from 'pg';
import { SCOPES } from '#lib/identity';
import { newId } from '#lib/kernel';
import type { TestServer } from '../../support/shared-server.js';
import { aMember, anAgent, aProject, aUser } from '../../support/factories.js';
import {
  aDependency,
  aHeldTask,
  aMilestone,
  aTask,
  type FreeStatus,
} from '../../support/task-factories.js';
import type { CallerKind, Route } from './openapi.js';

/**
 * The kind of thing that an id in a request names. A prerequisite is a task that another task waits
 * for.
 */
export type Thing =
  | 'workspace'
  | 'user'
  | 'session'
  | 'apiKey'
  | 'invitation'
  | 'project'
  | 'milestone'
  | 'pause'
  | 'budget'
  | 'providerLimit'
  | 'otherBudget'
  | 'webhook'
  | 'inboundHook'
  | 'repository'
  | 'schedule'
  | 'taskTemplate'
  | 'change'
  | 'question'
  | 'artifact'
  | 'agent'
  | 'task'
  | 'prerequisite'
  | 'run';

/** A caller of the tenant: their credentials, and the things that their requests would name. */
export interface TenantCaller {
  headers: Record<string, string>;
  own: Record<Thing, string>;
}

/** A workspace with one of everything, and tasks in every status. */
export interface Tenant {
  workspaceId: string;
  userId: string;
  /** A text that every text of the tenant's rows contains. */
  marker: string;
  /** All ids of the tenant, by their kind. */
  ids: Record<Thing, string[]>;
  callers: Record<CallerKind, TenantCaller>;
}

const FREE: FreeStatus[] = ['PENDING', 'PAUSED', 'COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED'];

export async function aTenant(app: TestServer): Promise<Tenant> {
  const { owner } = app.db;
  const { id: workspaceId, userId } = await app.newWorkspace();
  const marker = `tenant-${newId().slice(-12)}`;
  const colleague = await aMember(owner, workspaceId, 'MEMBER');
  const sessions = [await aSession(app, userId), await aSession(app, userId)] as const;
  const bearer = userToken(app, userId, sessions[0]);
  const keys = [await anApiKey(app, workspaceId, bearer), await anApiKey(app, workspaceId, bearer)];

  const project = await aProject(owner, workspaceId);
  const milestone = await aMilestone(owner, workspaceId, project);
  const agent = await anAgent(owner, workspaceId, { maxConcurrentTasks: 10 });
  const draining = await anAgent(owner, workspaceId, { lifecycle: 'DRAINING' });
  const described = {
    title: marker,
    inputContext: { text: marker },
    projectId: project,
    milestoneId: milestone,
  };
  const free = [];
  for (const status of FREE) free.push(await aTask(owner, workspaceId, { ...described, status }));
  const held = [];
  for (const state of ['WORKING', 'ASSIGNED', 'STALE'] as const) {
    held.push(await aHeldTask(owner, { workspaceId, agentId: agent }, { ...described, state }));
  }
  const waiting = await aTask(owner, workspaceId, described);
  const [pending, working] = [free[0] as string, held[0] as (typeof held)[number]];
  await aDependency(owner, workspaceId, { taskId: waiting, dependsOnId: pending });
  const pauses = [
    await aPause(owner, workspaceId, userId),
    await aPause(owner, workspaceId, userId),
  ];
  const budget = await aBudget(owner, workspaceId);
  const otherBudget = await aBudget(owner, workspaceId, milestone);
  const providerLimit = await aProviderLimit(owner, workspaceId, { agent, run: working.runId });
  const webhook = await aWebhook(owner, workspaceId, marker);
  const inboundHook = await anInboundHook(owner, workspaceId, { userId, marker });
  const repository = await aRepository(owner, workspaceId, marker);
  const schedule = await aSchedule(owner, workspaceId, { userId, marker });
  const taskTemplate = await aTaskTemplate(owner, workspaceId, { userId, marker });
  const change = await aChange(owner, workspaceId, { ...working, repository, marker });
  const question = await aQuestion(owner, workspaceId, { agentId: agent, marker });
  const artifact = await anArtifact(owner, workspaceId, { ...working, marker });
  await setPrompts(owner, workspaceId, marker);
  await mark(app, workspaceId, marker);
  const invitations = [
    await anInvitation(owner, workspaceId, userId),
    await anInvitation(owner, workspaceId, colleague),
  ];

  const shared = {
    workspace: workspaceId,
    user: colleague,
    session: sessions[1],
    apiKey: keys[1]?.id as string,
    invitation: invitations[0] as string,
    project,
    milestone,
    pause: pauses[1] as string,
    budget,
    otherBudget,
    providerLimit,
    webhook,
    inboundHook,
    repository,
    schedule,
    taskTemplate,
    change,
    question,
    artifact,
    agent,
    prerequisite: pending,
    run: working.runId,
  };
  const people = { ...shared, task: waiting };
  const holder = { ...shared, task: working.taskId };
  const tasks = [...free, waiting, ...held.map(({ taskId }) => taskId)];
  const tokens = app.tokens;
  const claims = { workspaceId, agentId: agent };
  const { token: agentToken } = tokens.issueAgentToken({ ...claims, tokenVersion: 1 });
  const runToken = tokens.issueRunToken({ ...claims, ...working });
  await filesOfRun(app, { runId: working.runId, token: agentToken, marker });
  return {
    workspaceId,
    userId,
    marker,
    ids: {
      workspace: [workspaceId],
      user: [userId, colleague],
      session: [...sessions],
      apiKey: keys.map(({ id }) => id),
      invitation: invitations,
      project: [project],
      milestone: [milestone],
      pause: pauses,
      budget: [budget, otherBudget],
      otherBudget: [otherBudget, budget],
      providerLimit: [providerLimit],
      webhook: [webhook],
      inboundHook: [inboundHook],
      repository: [repository],
      schedule: [schedule],
      taskTemplate: [taskTemplate],
      change: [change],
      question: [question],
      artifact: [artifact],
      agent: [agent, draining],
      // The first of the tasks and the first of the runs belong together.
      task: [working.taskId, ...tasks.filter((id) => id !== working.taskId)],
      prerequisite: tasks,
      run: held.map(({ runId }) => runId),
    },
    callers: {
      user: { headers: { ...bearer, 'x-workspace-id': workspaceId }, own: people },
      api_key: { headers: { authorization: `Bearer ${keys[0]?.key}` }, own: people },
      agent: { headers: { authorization: `Bearer ${agentToken}` }, own: holder },
      run: { headers: { authorization: `Bearer ${runToken}` }, own: holder },
    },
  };
}

/** Each run has received the marker as its prompt. */
async function setPrompts(owner: pg.Pool, workspaceId: string, marker: string): Promise<void> {
  await owner.query(
    `INSERT INTO run_prompts (workspace_id, run_id, prompt)
     SELECT workspace_id, id, $2 FROM task_runs WHERE workspace_id = $1`,
    [workspaceId, marker],
  );
}

/** The state of the agent of a run, and the diff of its change. */
async function filesOfRun(
  { url }: TestServer,
  { runId, token, marker }: { runId: string; token: string; marker: string },
): Promise<void> {
  for (const path of ['agent-state', 'artifacts/change.diff']) {
    const { ok, status } = await fetch(`${url}/api/v1/runs/${runId}/${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/x-diff' },
      body: JSON.stringify(marker),
    });
    if (!ok) throw new Error(`${path} was answered with ${status}`);
  }
}

export async function aSession(app: TestServer, userId: string): Promise<string> {
  const id = newId();
  await app.db.owner.query(
    `INSERT INTO user_sessions (id, user_id, refresh_hash, expires_at)
     VALUES ($1, $2, decode(md5($1::uuid::text), 'hex'), now() + interval '1 day')`,
    [id, userId],
  );
  return id;
}

export function userToken(app: TestServer, userId: string, sessionId: string) {
  const tokens = app.tokens;
  const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId: null });
  return { authorization: `Bearer ${token}` };
}

/** The credentials of an operator of the installation who is not a member anywhere. */
export async function anOperator(app: TestServer): Promise<Record<string, string>> {
  const userId = await aUser(app.db.owner, { isOperator: true });
  return userToken(app, userId, await aSession(app, userId));
}

export interface IssuedKey {
  id: string;
  key: string;
}

export async function anApiKey(
  app: TestServer,
  workspaceId: string,
  bearer: Record<string, string>,
  values: Record<string, unknown> = {},
): Promise<IssuedKey> {
  const response = await fetch(`${app.url}/api/v1/workspaces/${workspaceId}/api-keys`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a key', scopes: SCOPES, role: 'ADMIN', ...values }),
  });
  return (await response.json()) as IssuedKey;
}

/** Most requests need no keys, and each key needs a request. */
const NEEDS_KEYS: [RegExp, path: string, body: object][] = [
  [/^DELETE \/model-providers|\/model-access$/, 'model-providers/anthropic', { key: newId() }],
  [/^DELETE \/host-credentials/, 'host-credentials/registry.example.com', { value: newId() }],
];

/** Sets a key of the workspace and one of its project, if the route needs them. */
export async function setKeys(app: TestServer, route: Route, tenant: Tenant): Promise<void> {
  const { headers, own } = tenant.callers.user;
  for (const [, path, body] of NEEDS_KEYS.filter(([routes]) => routes.test(route.name))) {
    for (const query of ['', `?projectId=${own.project}`]) {
      await fetch(`${app.url}/api/v1/${path}${query}`, {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    }
  }
}

/** The pause holds nothing back, because no task has its type. */
async function aPause(owner: pg.Pool, workspaceId: string, userId: string): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO pauses (workspace_id, id, task_type, reason, paused_by) VALUES ($1, $2, 'none', 'why', $3)`,
    [workspaceId, id, userId],
  );
  return id;
}

/** The budget is so large that it holds nothing back. */
async function aBudget(
  owner: pg.Pool,
  workspaceId: string,
  milestone: string | null = null,
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO usage_budgets (workspace_id, id, milestone_id, allocated, period_start, period_end)
     VALUES ($1, $2, $3, 1000000000, now(), now() + interval '1 day')`,
    [workspaceId, id, milestone],
  );
  return id;
}

/** The limit holds nothing back, because no task needs its model. */
async function aProviderLimit(
  owner: pg.Pool,
  workspaceId: string,
  { agent, run }: { agent: string; run: string },
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO provider_limits (workspace_id, id, provider, covers, kind, until, over_at, run_id, agent_id)
     SELECT $1, $2, 'nobody', '^$', 'rate_limited', u, u, $3, $4 FROM (SELECT now() + interval '1 day') AS t (u)`,
    [workspaceId, id, run, agent],
  );
  return id;
}

async function aWebhook(owner: pg.Pool, workspaceId: string, marker: string): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO webhooks (workspace_id, id, url, events, description) VALUES ($1, $2, $3, '{*}', $4)`,
    [workspaceId, id, `https://example.com/${marker}`, marker],
  );
  return id;
}

async function anInboundHook(
  owner: pg.Pool,
  workspaceId: string,
  { userId, marker }: { userId: string; marker: string },
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO inbound_hooks (workspace_id, id, kind, rules, created_by, description)
     VALUES ($1, $2, 'github', '[{"on": "issues", "do": "resume_task"}]', $3, $4)`,
    [workspaceId, id, userId, marker],
  );
  return id;
}

async function aRepository(owner: pg.Pool, workspaceId: string, marker: string): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO repositories (workspace_id, id, name, url, setup)
     VALUES ($1, $2, $3, 'https://example.com/shop.git', $3)`,
    [workspaceId, id, marker],
  );
  return id;
}

async function aTaskTemplate(
  owner: pg.Pool,
  workspaceId: string,
  { userId, marker }: { userId: string; marker: string },
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO task_templates (workspace_id, id, name, task, created_by)
     VALUES ($1, $2, $4, '{"taskType": "test"}', $3)`,
    [workspaceId, id, userId, marker],
  );
  return id;
}

async function aSchedule(
  owner: pg.Pool,
  workspaceId: string,
  { userId, marker }: { userId: string; marker: string },
): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO schedules (workspace_id, id, name, every_seconds, anchored_at, tasks, overlap, missed, missed_limit,
       jitter_seconds, due_at, start_at, created_by)
     VALUES ($1, $2, $4, 86400, now(), '[{"taskType": "test"}]', 'skip', 'last', 10, 0, now() + interval '1 day',
       now() + interval '1 day', $3)`,
    [workspaceId, id, userId, marker],
  );
  return id;
}

/** The change of a held task, so that people and runs can name it. */
async function aChange(
  owner: pg.Pool,
  workspaceId: string,
  {
    taskId,
    runId,
    repository,
    marker,
  }: { taskId: string; runId: string; repository: string; marker: string },
): Promise<string> {
  await owner.query(`UPDATE agent_tasks SET repository_id = $2 WHERE id = $1`, [
    taskId,
    repository,
  ]);
  await owner.query(
    `INSERT INTO changes (workspace_id, task_id, repository_id, state, target, branch, head_commit,
       run_id)
     VALUES ($1, $2, $3, 'IN_REVIEW', 'main', $4, repeat('a', 40), $5)`,
    [workspaceId, taskId, repository, marker, runId],
  );
  await owner.query(
    `INSERT INTO change_reviews (workspace_id, id, task_id, revision, kind, verdict, author, body)
     VALUES ($1, $2, $3, 1, 'review', 'commented', 'user:' || $5, $4)`,
    [workspaceId, newId(), taskId, marker, newId()],
  );
  return taskId;
}

/** The question belongs to a task that waits for its answer. */
async function aQuestion(
  owner: pg.Pool,
  workspaceId: string,
  { agentId, marker }: { agentId: string; marker: string },
): Promise<string> {
  const [id, runId] = [newId(), newId()];
  const taskId = await aTask(owner, workspaceId, { status: 'PAUSED', title: marker });
  await owner.query(
    `UPDATE agent_tasks SET paused_by = $2, paused_for = 'question' WHERE id = $1`,
    [taskId, `run:${runId}`],
  );
  await owner.query(
    `INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, free_text, deadline_at, on_deadline)
     VALUES ($1, $2, $3, $4, $5, $6, true, now() + interval '1 day', 'fail')`,
    [workspaceId, id, taskId, runId, agentId, marker],
  );
  return id;
}

async function anArtifact(
  owner: pg.Pool,
  workspaceId: string,
  { taskId, runId, marker }: { taskId: string; runId: string; marker: string },
): Promise<string> {
  const id = newId();
  await owner.query(`INSERT INTO artifact_usage (workspace_id) VALUES ($1)`, [workspaceId]);
  await owner.query(
    `INSERT INTO artifacts (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
     VALUES ($1, $2, $3, $4, $5, 'text/plain', 0, repeat('0', 64))`,
    [workspaceId, id, taskId, runId, marker],
  );
  return id;
}

/** The invited user has become a member in the meantime. */
async function anInvitation(owner: pg.Pool, workspaceId: string, userId: string): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO workspace_invitations (workspace_id, id, email, role, invited_by, expires_at)
     SELECT $1, $2, email, 'MEMBER', $3, now() + interval '1 day' FROM users WHERE id = $3`,
    [workspaceId, id, userId],
  );
  return id;
}

/** The factories choose the names. */
async function mark({ db: { owner } }: TestServer, workspaceId: string, marker: string) {
  await owner.query('UPDATE pauses SET reason = $2 WHERE workspace_id = $1', [workspaceId, marker]);
  for (const table of ['projects', 'milestones', 'agents', 'api_keys']) {
    await owner.query(`UPDATE ${table} SET name = $2::text || ' ' || id WHERE workspace_id = $1`, [
      workspaceId,
      marker,
    ]);
  }
  await owner.query('UPDATE workspaces SET name = $2 WHERE id = $1', [workspaceId, marker]);
  await owner.query(
    `UPDATE users SET name = $2::text, email = $2::text || email
     WHERE id IN (SELECT user_id FROM workspace_members WHERE workspace_id = $1)`,
    [workspaceId, marker],
  );
}
