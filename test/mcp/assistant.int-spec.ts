import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedServer, type TestServer, type TestWorkspace } from '../support/shared-server.js';
import { createKey, claimRun, closeClients, connectClient, VIAS } from './clients.js';

/** A person's assistant with an API key. */

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer();
  workspace = await app.newWorkspace();
});
afterEach(closeClients);
afterAll(() => app.stop());

const READING = [
  'explain_task',
  'get_change',
  'get_change_diff',
  'get_task',
  'get_task_log',
  'get_task_usage',
  'get_template',
  'get_usage',
  'list_budgets',
  'list_changes',
  'list_dead_letter',
  'list_questions',
  'list_schedules',
  'list_templates',
  'preview_schedule',
];
const WRITING = [
  'cancel_task',
  'change_schedule',
  'create_schedule',
  'create_task',
  'create_task_from_template',
  'delete_schedule',
  'pause_schedule',
  'pause_task',
  'replay_dead_letter',
  'resume_schedule',
  'resume_task',
  'retry_task',
  'run_schedule',
];

describe.each(VIAS)('over %s', (via) => {
  const assistant = async (values: Record<string, unknown> = {}) =>
    connectClient(via, app, await createKey(workspace, values));

  it.each([
    [['tasks:read'], 'OWNER', [...READING, 'list_tasks']],
    [['tasks:write'], 'OWNER', [...READING, ...WRITING, 'list_tasks']],
    [['tasks:write'], 'VIEWER', [...READING, 'list_tasks']],
    [['agents:write'], 'OWNER', ['list_agents']],
    [['changes:review'], 'OWNER', ['approve_change', 'request_changes']],
    [['workspace:admin'], 'ADMIN', ['stop_all_runs']],
    [['projects:read'], 'OWNER', []],
  ])('a key with the scopes %j and the role %s sees its tools', async (scopes, role, names) => {
    const { tools } = await assistant({ scopes, ...(role !== 'OWNER' && { role }) });
    expect(await tools()).toEqual([...names].sort());
  });

  it('an assistant creates, finds and explains a task', async () => {
    const { call } = await assistant();
    const made = await call('create_task', {
      title: `By an assistant over ${via}`,
      taskType: 'research',
      requiredCapabilities: ['telescope'],
    });
    const taskId = String(made.data.id);
    const found = await call('list_tasks', { text: `assistant over ${via}`, status: ['PENDING'] });
    expect(found.data.items).toMatchObject([{ id: taskId, status: 'PENDING' }]);
    expect((await call('get_task', { taskId })).data).toMatchObject({ id: taskId });
    const why = await call('explain_task', { taskId });
    expect(why.text).toContain('telescope');
    expect((await call('get_task_log', { taskId })).data.items).toHaveLength(1);
  });

  it('an assistant can shorten ids', async () => {
    const { call } = await assistant();
    const task = { title: `Shortened over ${via}`, taskType: 'research' };
    const taskId = String((await call('create_task', task)).data.id);
    const digits = taskId.slice(0, -1);
    expect((await call('get_task', { taskId: digits })).data).toMatchObject({ id: taskId });
    const next = await call('create_task', { ...task, dependsOn: [digits] });
    const found = await call('get_task', { taskId: String(next.data.id) });
    expect(found.data).toMatchObject({ dependsOn: [taskId] });
  });

  it('an assistant reads a diff, requests changes of one change and approves another', async () => {
    const body = { name: `shop-${via}`, url: 'https://example.com/shop.git' };
    const { id: repositoryId } = (await workspace.api.post('/repositories', body)).body;
    const head = 'a'.repeat(40);
    const diff = 'diff --git a/a.ts b/a.ts\n+parse\n';
    const submitted = async (): Promise<string> => {
      const idle = `UPDATE changes SET step_due_at = 'infinity' WHERE step IS NOT NULL`;
      await app.db.owner.query(`${idle} AND workspace_id = $1`, [workspace.id]);
      const { taskId, runId, agent } = await claimRun(workspace, { repositoryId });
      const headers = { authorization: `Bearer ${agent.token}`, 'content-type': 'text/x-diff' };
      const address = `${app.url}/api/v1/runs/${runId}/artifacts/change.diff`;
      expect((await fetch(address, { method: 'PUT', headers, body: diff })).status).toBe(200);
      const size = { filesChanged: 1, insertions: 1, deletions: 0 };
      const submission = { baseCommit: head, headCommit: head, ...size };
      expect((await agent.api.post(`/runs/${runId}/submit`, submission)).status).toBe(200);
      const claim = await agent.api.post<{ step: { generation: number } }>(
        '/change-steps/claim',
        {},
      );
      const green = { generation: claim.body.step.generation, outcome: 'green', commit: head };
      await agent.api.post(`/change-steps/${taskId}/report`, green);
      return taskId;
    };
    const changeId = await submitted();
    const { call } = await assistant({ scopes: ['tasks:read', 'changes:review'] });
    const found = await call('list_changes', { state: 'IN_REVIEW', repositoryId });
    expect(found.data.items).toMatchObject([{ id: changeId }]);
    expect((await call('get_change_diff', { changeId })).data).toEqual({ diff });
    const comments = [{ path: 'a.ts', line: 3, text: 'Use the parser' }];
    await call('request_changes', { changeId, body: 'Nearly', comments });
    expect((await call('get_change', { changeId })).data).toMatchObject({
      state: 'WORKING',
      reviews: [{ verdict: 'green' }, { verdict: 'changes_requested', comments }],
    });
    const second = { changeId: await submitted() };
    const early = await call('approve_change', { ...second, headCommit: 'b'.repeat(40) });
    expect(early).toMatchObject({ isError: true, data: { code: 'change_moved' } });
    const approved = await call('approve_change', { ...second, headCommit: head, body: 'Good' });
    expect(approved.data).toMatchObject({
      state: 'APPROVED',
      reviews: [{ verdict: 'green' }, { verdict: 'approved', body: 'Good' }],
    });
  });

  it('an assistant creates a schedule, runs it, and stops all runs', async () => {
    const { call } = await assistant({
      scopes: ['tasks:write', 'workspace:admin'],
      role: 'ADMIN',
    });
    const rule = { cron: '0 9 * * MON-FRI', timeZone: 'Europe/Berlin' };
    const preview = await call('preview_schedule', { ...rule, count: 3 });
    expect(preview.data.items).toHaveLength(3);
    const agent = { kind: 'codex' };
    const timed = { delaySeconds: 60, concurrencyKey: 'nightly', concurrencyLimit: 2 };
    const tasks = [
      { ref: 'fetch', title: 'Nightly', taskType: 'research', agent, ...timed },
      { title: 'Report', taskType: 'research', dependsOn: [{ ref: 'fetch' }] },
    ];
    const policies = { missed: 'all', missedLimit: 2, jitterSeconds: 30 };
    const made = await call('create_schedule', { name: via, ...rule, ...policies, tasks });
    expect(made.data).toMatchObject({ ...policies, tasks });
    const scheduleId = String(made.data.id);
    const changed = await call('change_schedule', { scheduleId, everySeconds: 3600 });
    expect(changed.data).toMatchObject({ cron: null, everySeconds: 3600, tasks });
    const started = await call('run_schedule', { scheduleId });
    expect(started.data).toMatchObject({ outcome: 'started', manual: true });
    const ofSchedule = await call('list_tasks', { scheduleId, sort: 'oldest' });
    expect(ofSchedule.data.items).toMatchObject([{ title: 'Nightly' }, { title: 'Report' }]);
    expect((await call('pause_schedule', { scheduleId })).data).toMatchObject({ nextDueAt: null });
    expect((await call('resume_schedule', { scheduleId })).data).toMatchObject({ pausedAt: null });
    expect((await call('list_schedules', { name: via })).data.items).toMatchObject([
      { id: scheduleId },
    ]);
    const stopped = await call('stop_all_runs', { reason: 'Tested' });
    expect(stopped.data).toMatchObject({ scope: 'workspace', endRuns: true });
    await app.db.owner.query('UPDATE pauses SET ended_at = now() WHERE id = $1', [stopped.data.id]);
    expect((await call('delete_schedule', { scheduleId })).data).toMatchObject({ deleted: true });
  });

  it('an assistant finds dead tasks and replays them with another input', async () => {
    const own = await app.newWorkspace();
    const { taskId, runId, agent } = await claimRun(own, { maxRetries: 0 });
    await agent.api.post(`/runs/${runId}/fail`, { error: { message: 'No region' } });
    const { call } = await connectClient(via, app, await createKey(own));
    const [group] = (await call('list_dead_letter', {})).data.items as { fingerprint: string }[];
    const failureFingerprint = group?.fingerprint;
    const dead = await call('list_tasks', { failureFingerprint });
    expect(dead.data.items).toMatchObject([{ id: taskId }]);
    const inputContext = { region: 'eu' };
    const { data } = await call('replay_dead_letter', { group: failureFingerprint, inputContext });
    expect(data).toMatchObject({ matched: 1, replayed: 1, skips: [] });
    const [id] = data.ids as string[];
    expect((await call('get_task', { taskId: id })).data).toMatchObject({
      replaysId: taskId,
      inputContext,
    });
  });

  it('an assistant finds a template and creates a task from it, once for a key', async () => {
    const template = { taskType: 'research', priority: 8, secrets: { KEY: 'halibut-9' } };
    const made = { name: `Survey ${via}`, description: 'Of the sky', task: template };
    await workspace.api.post('/task-templates', made);
    const { call } = await assistant();
    const found = await call('list_templates', { name: made.name });
    const [{ id }] = found.data.items as [{ id: string }];
    expect(found.data.items).toEqual([
      { id, name: made.name, description: 'Of the sky', taskType: 'research' },
    ]);
    const shown = await call('get_template', { templateId: id });
    expect(shown.data).toMatchObject({ task: { priority: 8, secrets: { KEY: '[redacted]' } } });
    expect(shown.text).not.toContain('halibut');
    const once = { templateId: id, description: 'By night', idempotencyKey: `survey-${via}` };
    const [task, again] = [
      await call('create_task_from_template', once),
      await call('create_task_from_template', once),
    ];
    expect(task.data).toMatchObject({ title: made.name, priority: 8, status: 'PENDING' });
    expect(again.data.id).toBe(task.data.id);
    expect((await call('get_task', { taskId: String(task.data.id) })).data).toMatchObject({
      description: 'By night',
      secrets: { KEY: '[redacted]' },
    });
  });

  it('an assistant pauses, resumes, cancels and retries a task', async () => {
    const { call } = await assistant();
    const made = await call('create_task', { title: 'A task', taskType: 'research' });
    const taskId = String(made.data.id);
    for (const [name, status] of [
      ['pause_task', 'PAUSED'],
      ['resume_task', 'PENDING'],
      ['cancel_task', 'ABORTED'],
      ['retry_task', 'PENDING'],
    ] as const) {
      const { data } = await call(name, { taskId, reason: 'asked to' });
      expect({ name, ...data }).toMatchObject({ name, id: taskId, status });
    }
    await call('cancel_task', { taskId });
    const refused = await call('pause_task', { taskId });
    expect(refused).toMatchObject({ isError: true, data: { code: 'illegal_transition' } });
    expect(refused.text).toContain('Read `current`');
  });

  it('an assistant lists agents, budgets and usage', async () => {
    const { agent, token } = await claimRun(workspace);
    const run = await connectClient(via, app, token);
    const tokens = { inputTokens: 700, outputTokens: 70 };
    await run.call('report_usage', { reports: [{ id: '1', model: 'claude-sonnet-4', ...tokens }] });
    await workspace.api.post('/budgets', {
      scope: 'global',
      allocatedTokens: '1000000',
      periodStart: '2000-01-01T00:00:00Z',
      periodEnd: '2000-02-01T00:00:00Z',
    });
    const { call } = await assistant();
    const agents = await call('list_agents', { limit: 50 });
    expect(agents.data.items).toContainEqual(expect.objectContaining({ id: agent.id }));
    expect(await call('list_budgets')).toMatchObject({ isError: false });
    const usage = await call('get_usage', { groupBy: 'agent' });
    expect(usage.data.items).toContainEqual(expect.objectContaining({ inputTokens: '700' }));
  });

  it('a cursor continues a list', async () => {
    const other = await app.newWorkspace();
    const { call } = await connectClient(via, app, await createKey(other));
    const made = new Set<unknown>();
    for (const title of ['one', 'two', 'three']) {
      made.add((await call('create_task', { title, taskType: 'paging' })).data.id);
    }
    const first = await call('list_tasks', { limit: 2 });
    const second = await call('list_tasks', { limit: 2, cursor: first.data.nextCursor });
    const items = [first, second].flatMap(({ data }) => data.items as { id: string }[]);
    expect(new Set(items.map(({ id }) => id))).toEqual(made);
    expect(second.data.nextCursor).toBeNull();
  });

  it('a large task is shortened to the maximum answer', async () => {
    const page = 'a"é'.repeat(100_000);
    const { body } = await workspace.api.post('/agent-tasks', {
      title: 'Large',
      taskType: 'research',
      inputContext: { small: 1, pages: [page, page] },
    });
    const { call } = await assistant();
    const { data, text, isError } = await call('get_task', { taskId: body.id });
    expect(isError).toBe(false);
    expect(text.length).toBeLessThan(61_000);
    expect(data).toMatchObject({ id: body.id, title: 'Large', inputContext: { small: 1 } });
    expect(text).toContain('[omitted: ');
  });
});
