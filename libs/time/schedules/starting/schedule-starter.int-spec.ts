import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { QueueDepths } from '#lib/admission';
import { checkInvariants } from '#lib/invariants';
import { newId } from '#lib/kernel';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { ScheduleStarter } from './schedule-starter.js';

interface Schedule {
  id: string;
  nextDueAt: string | null;
  version: number;
}
interface Task {
  id: string;
  title: string;
  status: string;
  scheduledFor: string;
  dependsOn: string[];
}
interface Occurrence {
  dueAt: string;
  outcome: string;
  reason: string | null;
  taskId: string | null;
}

/** No coordinator: the tests call the sweeps. */
let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api' });
});
beforeEach(async () => {
  workspace = await server.newWorkspace();
});
afterAll(async () => {
  const broken = (await checkInvariants(server.db.ownerUrl)).filter(({ holds }) => !holds);
  expect(broken).toEqual([]);
  await server.stop();
});

const COMMAND = { taskType: 'command', inputContext: { command: ['true'] } };

async function create(values: object = {}): Promise<Schedule> {
  const body = { name: 'nightly', everySeconds: 3_600, tasks: [COMMAND], ...values };
  const answer = await workspace.api.post<Schedule>('/schedules', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

/** Moves the next due time to some seconds ago. */
const makeDue = ({ id }: Schedule, secondsAgo = 0) =>
  server.db.owner.query(
    `UPDATE schedules SET due_at = d.at, start_at = d.at
     FROM (SELECT date_trunc('second', now()) - make_interval(secs => $2) AS at) d WHERE id = $1`,
    [id, secondsAgo],
  );

const sweep = () => server.app.get(ScheduleStarter, { strict: false }).sweep(workspace.id);

/** Oldest first. */
async function tasksOf({ id }: Schedule): Promise<Task[]> {
  const { body } = await workspace.api.get<{ items: Task[] }>(`/agent-tasks?scheduleId=${id}`);
  return [...body.items].reverse();
}

/** Oldest first. */
async function occurrencesOf({ id }: Schedule): Promise<Occurrence[]> {
  const path = `/schedules/${id}/occurrences`;
  const { body } = await workspace.api.get<{ items: Occurrence[] }>(path);
  return [...body.items].reverse();
}

describe('a due time', () => {
  it('ten servers at once create one task, with the name of the schedule as its title', async () => {
    const schedules = [];
    for (let n = 0; n < 30; n++) schedules.push(await create({ name: `schedule ${n}` }));
    await Promise.all(schedules.map((schedule) => makeDue(schedule)));
    await Promise.all(Array.from({ length: 10 }, () => sweep()));
    for (const [index, schedule] of schedules.entries()) {
      const [task, ...others] = await tasksOf(schedule);
      expect(others).toEqual([]);
      const [occurrence, ...later] = await occurrencesOf(schedule);
      expect(later).toEqual([]);
      expect(occurrence).toMatchObject({ outcome: 'started', taskId: task?.id });
      expect(task).toMatchObject({
        title: `schedule ${index}`,
        status: 'PENDING',
        scheduledFor: occurrence?.dueAt,
      });
      const { items } = (
        await workspace.api.get<{ items: object[] }>(`/agent-tasks/${task?.id}/logs`)
      ).body;
      expect(items).toContainEqual(
        expect.objectContaining({ actor: { kind: 'schedule', id: schedule.id } }),
      );
    }
  });

  it('graphs of several schedules are created together and keep their edges', async () => {
    const graph = [
      { ...COMMAND, ref: 'build', title: 'Build' },
      { ...COMMAND, ref: 'test', title: 'Test', dependsOn: [{ ref: 'build' }] },
    ];
    const one = await create({ tasks: graph });
    const other = await create({ name: 'other', tasks: graph });
    await Promise.all([makeDue(one), makeDue(other)]);
    await sweep();
    for (const schedule of [one, other]) {
      const tasks = await tasksOf(schedule);
      const [build, test] = ['Build', 'Test'].map((title) => tasks.find((t) => t.title === title));
      expect(test?.dependsOn).toEqual([build?.id]);
      expect(tasks).toHaveLength(2);
    }
  });

  it('a schedule whose tasks are refused does not hold up the others', async () => {
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    const refused = await create({ tasks: [{ ...COMMAND, projectId: project.id }] });
    const others = [await create({ name: 'one' }), await create({ name: 'two' })];
    await workspace.api.post(`/projects/${project.id}/archive`);
    await Promise.all([refused, ...others].map((schedule) => makeDue(schedule)));
    await sweep();
    expect(await occurrencesOf(refused)).toMatchObject([
      { outcome: 'failed', reason: 'project_archived', taskId: null },
    ]);
    for (const schedule of others) expect(await tasksOf(schedule)).toHaveLength(1);
    const { body } = await workspace.api.get<Schedule>(`/schedules/${refused.id}`);
    expect(Date.parse(body.nextDueAt ?? '')).toBeGreaterThan(Date.now());
  });

  it('a failed due time is an event, and needs attention until one starts', async () => {
    const { body: project } = await workspace.api.post<{ id: string }>('/projects', { name: 'P' });
    const one = await create({ tasks: [{ ...COMMAND, projectId: project.id }] });
    const other = await create({ name: 'other', tasks: [{ ...COMMAND, projectId: project.id }] });
    await workspace.api.post(`/projects/${project.id}/archive`);
    const failed = async () => {
      const { body } = await workspace.api.get<{ failedSchedules: number }>('/attention');
      return body.failedSchedules;
    };
    for (const secondsAgo of [2, 1]) {
      await Promise.all([one, other].map((schedule) => makeDue(schedule, secondsAgo)));
      await Promise.all([sweep(), sweep()]);
    }
    expect(await failed()).toBe(2);
    const { rows } = await server.db.owner.query(
      `SELECT details ->> 'name' AS name, reason, count(*)::int, count(DISTINCT details ->> 'dueAt')::int AS times,
         bool_and(message <> '' AND actor_id = details ->> 'scheduleId') AS says_why
       FROM journal WHERE workspace_id = $1 AND event = 'schedule.due_time_failed' GROUP BY 1, 2 ORDER BY 1`,
      [workspace.id],
    );
    const twice = { reason: 'project_archived', count: 2, times: 2, says_why: true };
    expect(rows).toEqual([
      { name: 'nightly', ...twice },
      { name: 'other', ...twice },
    ]);
    const [latest] = (await occurrencesOf(other)).slice(-1);
    const { body: shown } = await workspace.api.get(`/schedules/${other.id}`);
    expect(shown).toMatchObject({ failedAt: latest?.dueAt });
    await server.db.owner.query('UPDATE projects SET archived_at = NULL WHERE id = $1', [
      project.id,
    ]);
    await makeDue(one);
    await sweep();
    expect(await failed()).toBe(1);
    await workspace.api.post(`/schedules/${other.id}/run`);
    expect(await failed()).toBe(0);
  });

  it('a due time that is recorded already is over, and the next one follows', async () => {
    const schedule = await create({ overlap: 'allow' });
    await makeDue(schedule);
    await server.db.owner.query(
      `INSERT INTO schedule_occurrences (workspace_id, schedule_id, due_at, outcome)
       SELECT workspace_id, id, due_at, 'skipped' FROM schedules WHERE id = $1`,
      [schedule.id],
    );
    await sweep();
    expect(await tasksOf(schedule)).toEqual([]);
    const { body } = await workspace.api.get<Schedule>(`/schedules/${schedule.id}`);
    expect(Date.parse(body.nextDueAt ?? '')).toBeGreaterThan(Date.now());
  });

  it('another jitter keeps the pending due time', async () => {
    const schedule = await create();
    await makeDue(schedule, 5);
    const due = (await workspace.api.get<Schedule>(`/schedules/${schedule.id}`)).body.nextDueAt;
    const changed = await workspace.api.patch<Schedule>(`/schedules/${schedule.id}`, {
      jitterSeconds: 0,
    });
    expect(changed.body.nextDueAt).toBe(due);
    const jittered = await workspace.api.patch<Schedule>(`/schedules/${schedule.id}`, {
      jitterSeconds: 600,
    });
    expect(jittered.body.nextDueAt).toBe(due);
  });

  it('a due time waits while the queue is full', async () => {
    const schedule = await create();
    const { owner } = server.db;
    const limits = `INSERT INTO workspace_limits (workspace_id, max_queue_depth) VALUES ($1, 1)`;
    await owner.query(limits, [workspace.id]);
    await workspace.api.post('/agent-tasks', { title: 'T', taskType: 'test' });
    await makeDue(schedule);
    await sweep();
    expect(await occurrencesOf(schedule)).toEqual([]);
    await owner.query('DELETE FROM workspace_limits WHERE workspace_id = $1', [workspace.id]);
    server.app.get(QueueDepths, { strict: false }).forget(workspace.id);
    const again =
      'UPDATE schedules SET start_at = now() WHERE id = $1 AND start_at > now() RETURNING id';
    expect((await owner.query(again, [schedule.id])).rows).toHaveLength(1);
    await sweep();
    expect(await tasksOf(schedule)).toHaveLength(1);
  });

  it.each([
    ['none', ['missed', 'started'], 1],
    ['last', ['missed', 'started'], 1],
    ['all', ['missed', 'started', 'started', 'started'], 3],
  ])('of those missed in an outage, the policy %s starts some', async (missed, outcomes, tasks) => {
    const rule = { cron: '* * * * *', overlap: 'allow' };
    const schedule = await create({ everySeconds: undefined, ...rule, missed, missedLimit: 3 });
    await server.db.owner.query(
      `UPDATE schedules SET due_at = d.at, start_at = d.at
       FROM (SELECT date_trunc('minute', now()) - interval '30 minutes' AS at) d WHERE id = $1`,
      [schedule.id],
    );
    for (let n = 0; n < outcomes.length; n++) await sweep();
    expect((await occurrencesOf(schedule)).map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(await tasksOf(schedule)).toHaveLength(tasks);
  });
});

describe('an earlier task that has not finished', () => {
  async function twice(overlap: string, times = 2): Promise<Schedule> {
    const schedule = await create({ overlap });
    for (let n = times; n > 0; n--) {
      await makeDue(schedule, n);
      await sweep();
    }
    return schedule;
  }

  it('a due time is skipped until the earlier task has finished', async () => {
    const schedule = await twice('skip');
    const [task] = await tasksOf(schedule);
    expect((await occurrencesOf(schedule))[1]).toMatchObject({
      outcome: 'skipped',
      reason: 'overlap',
    });
    await workspace.api.post(`/agent-tasks/${task?.id}/cancel`);
    await makeDue(schedule);
    await sweep();
    expect(await tasksOf(schedule)).toHaveLength(2);
  });

  it('one due time waits for the earlier task, and starts after its end', async () => {
    const schedule = await twice('queue', 3);
    const [first, second, ...others] = await tasksOf(schedule);
    expect(others).toEqual([]);
    expect(second?.dependsOn).toEqual([first?.id]);
    expect((await occurrencesOf(schedule)).map(({ outcome }) => outcome)).toEqual([
      'started',
      'started',
      'skipped',
    ]);
  });

  it('a due time is skipped if too many tasks would wait for too many', async () => {
    const tasks = Array.from({ length: 101 }, () => COMMAND);
    const schedule = await create({ overlap: 'queue', tasks });
    for (const secondsAgo of [2, 1]) {
      await makeDue(schedule, secondsAgo);
      await sweep();
    }
    expect((await occurrencesOf(schedule))[1]).toMatchObject({ outcome: 'skipped' });
  });

  it('the earlier task is cancelled, or runs beside the new one', async () => {
    const replaced = await twice('cancel');
    expect((await tasksOf(replaced)).map(({ status }) => status)).toEqual(['ABORTED', 'PENDING']);
    await workspace.api.delete(`/schedules/${replaced.id}`);
    expect(await tasksOf(await twice('allow'))).toHaveLength(2);
  });
});

describe('a schedule', () => {
  const path = ({ id }: Schedule, rest = '') => `/schedules/${id}${rest}`;

  it('a paused schedule starts only by hand, and resumes at its next due time', async () => {
    const schedule = await create();
    const paused = await workspace.api.post(path(schedule, '/pause'), { reason: 'moving' });
    expect(paused.body).toMatchObject({ nextDueAt: null, pauseReason: 'moving' });
    await sweep();
    expect(await tasksOf(schedule)).toEqual([]);
    const started = await workspace.api.post<Occurrence>(path(schedule, '/run'));
    expect(started).toMatchObject({ status: 201, body: { outcome: 'started', manual: true } });
    expect(await tasksOf(schedule)).toMatchObject([{ id: started.body.taskId }]);
    const resumed = await workspace.api.post<Schedule>(path(schedule, '/resume'));
    expect(resumed.body).toMatchObject({ pausedAt: null, pauseReason: null });
    expect(Date.parse(resumed.body.nextDueAt ?? '')).toBeGreaterThan(Date.now());
  });

  it('a new rule counts from now on, and an older version is refused', async () => {
    const schedule = await create();
    const change = { cron: '0 9 * * *', timeZone: 'Asia/Tokyo', name: 'daily' };
    const headers = { 'if-match': `"${schedule.version}"` };
    const changed = await workspace.api.patch<Schedule>(path(schedule), change, headers);
    expect(changed.body).toMatchObject({ everySeconds: null, ...change });
    expect(changed.body.nextDueAt).toMatch(/T00:00:00.000Z$/);
    const refused = await workspace.api.patch(path(schedule), { name: 'x' }, headers);
    expect(refused).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });
    const { body } = await workspace.api.get<{ items: { dueAt: string }[] }>(
      path(schedule, '/due-times?count=3'),
    );
    expect(body.items.map(({ dueAt }) => dueAt.slice(11))).toEqual(Array(3).fill('00:00:00.000Z'));
    const preview = await workspace.api.post('/schedules/preview', { cron: '0 9 * * *' });
    expect(preview).toMatchObject({ status: 200, body: { items: { length: 10 } } });
  });

  it.each([
    [{ cron: 'often' }, 'cron'],
    [{ cron: '0 9 * * *', everySeconds: 5 }, 'cron'],
    [{}, 'cron'],
    [{ everySeconds: 5, timeZone: 'UTC' }, 'timeZone'],
    [{ everySeconds: 5, tasks: [] }, 'tasks'],
    [{ everySeconds: 5, tasks: [{ taskType: 'x', secrets: { PATH: 'b' } }] }, 'tasks[0].secrets'],
    [
      { everySeconds: 5, tasks: [{ taskType: 'x', secrets: { A: '[redacted]' } }] },
      'tasks[0].secrets.A',
    ],
    [
      { everySeconds: 5, tasks: [{ taskType: 'swordfish', secrets: { A: 'swordfish' } }] },
      'tasks[0].taskType',
    ],
    [
      {
        everySeconds: 5,
        name: 'of swordfish',
        tasks: [{ ...COMMAND, secrets: { A: 'swordfish' } }],
      },
      'name',
    ],
    [
      { everySeconds: 5, tasks: [{ taskType: 'x', dependsOn: [{ ref: 'y' }] }] },
      'tasks[0].dependsOn[0]',
    ],
  ])('the schedule %j is refused', async (values, field) => {
    const body = { name: 'bad', tasks: [COMMAND], ...values };
    expect(await workspace.api.post('/schedules', body)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field }] },
    });
  });

  it('a name is free after its schedule is deleted, and the tasks stay', async () => {
    const schedule = await create();
    await workspace.api.post(path(schedule, '/run'));
    const again = { name: 'nightly', everySeconds: 5, tasks: [COMMAND] };
    expect(await workspace.api.post('/schedules', again)).toMatchObject({
      status: 409,
      body: { code: 'schedule_exists' },
    });
    expect(await workspace.api.delete(path(schedule))).toMatchObject({ status: 204 });
    expect(await tasksOf(schedule)).toHaveLength(1);
    await create();
  });

  it('an archived workspace starts nothing', async () => {
    const schedule = await create();
    await makeDue(schedule);
    await server.db.owner.query('UPDATE workspaces SET archived_at = now() WHERE id = $1', [
      workspace.id,
    ]);
    await sweep();
    const { rows } = await server.db.owner.query(
      `SELECT due_at, pause_reason, (SELECT count(*)::int FROM agent_tasks WHERE schedule_id = s.id) AS tasks
       FROM schedules s WHERE id = $1`,
      [schedule.id],
    );
    expect(rows).toEqual([{ due_at: null, pause_reason: 'The workspace is archived', tasks: 0 }]);
  });
});

describe('the secrets of a schedule', () => {
  const HIDDEN = '[redacted]';

  async function claimed() {
    const agent = await workspace.newAgent({ capabilities: ['command'], maxConcurrentTasks: 10 });
    const path = `/agents/${agent.id}/claim`;
    const { body } = await agent.api.post<{ tasks: { task: object }[] }>(path, { maxTasks: 10 });
    return body.tasks.map(({ task }) => task);
  }

  it('only runs get them, and a change keeps those that it sends back hidden', async () => {
    // Have no recognisable form: only `secrets` marks them.
    const [build, deploy] = [`correct horse ${newId()}`, `battery staple ${newId()}`];
    const tasks = [
      { ...COMMAND, ref: 'build', title: `With ${build}`, secrets: { KEY: build } },
      { ...COMMAND, ref: 'deploy', secrets: { KEY: deploy }, metadata: { token: 'swordfish-1' } },
    ];
    const created = await create({ tasks });
    const shown = [
      { ...tasks[0], title: `With ${HIDDEN}`, secrets: { KEY: HIDDEN } },
      { ...tasks[1], secrets: { KEY: HIDDEN }, metadata: { token: HIDDEN } },
    ];
    expect(created).toMatchObject({ tasks: shown });
    const moved = [...shown].reverse();
    const changed = await workspace.api.patch(`/schedules/${created.id}`, { tasks: moved });
    expect(changed).toMatchObject({ status: 200, body: { tasks: moved } });
    await makeDue(created);
    await sweep();
    expect(await tasksOf(created)).toMatchObject([
      { title: 'nightly', secrets: { KEY: HIDDEN } },
      { title: `With ${HIDDEN}`, secrets: { KEY: HIDDEN } },
    ]);
    await workspace.api.post(`/schedules/${created.id}/run`);
    const received = [
      { title: 'nightly', secrets: { KEY: deploy }, metadata: { token: 'swordfish-1' } },
      { title: `With ${build}`, secrets: { KEY: build } },
    ];
    expect(await claimed()).toMatchObject([...received, ...received]);
    for (const secret of [build, deploy, 'swordfish-1']) {
      expect(await tablesWith(server, secret)).toEqual([]);
    }
    await workspace.api.patch(`/schedules/${created.id}`, { tasks: [COMMAND] });
    expect(await tablesWith(server, created.id)).not.toContain('schedule_secrets');
  });

  it('a change cannot show a secret as the name, or give it to another task', async () => {
    const task = (key: string, word: string, value = `swordfish of ${word}`) => ({
      taskType: 'command',
      inputContext: { command: [word] },
      secrets: { [key]: value },
    });
    const tasks = [task('KEY', 'a'), task('KEY', 'b'), task('OTHER', 'c')];
    const created = await create({ tasks });
    const change = (body: object) => workspace.api.patch(`/schedules/${created.id}`, body);
    const [a, b, c] = [
      task('KEY', 'a', HIDDEN),
      task('KEY', 'b', HIDDEN),
      task('OTHER', 'c', HIDDEN),
    ];
    for (const [body, ...fields] of [
      [{ name: 'swordfish of a' }, 'name'],
      [{ tasks: [b, c] }, 'tasks[0].secrets.KEY', 'tasks[1].secrets.OTHER'],
      [{ tasks: [b, a, c] }, 'tasks[0].secrets.KEY', 'tasks[1].secrets.KEY'],
      [{ tasks: [{ ...a, ref: 'new' }, b, c] }, 'tasks[0].secrets.KEY'],
    ] as const) {
      expect(await change(body)).toMatchObject({
        status: 400,
        body: { code: 'validation_failed', errors: fields.map((field) => ({ field })) },
      });
    }
    const changed = { ...c, priority: 9, inputContext: { command: ['d'] } };
    expect(await change({ name: 'weekly', tasks: [a, b, changed] })).toMatchObject({ status: 200 });
    await workspace.api.post(`/schedules/${created.id}/run`);
    const secretsOf = (list: object[]) => new Set(list.map((each) => Reflect.get(each, 'secrets')));
    expect(secretsOf(await claimed())).toEqual(secretsOf(tasks));
    const alone = { ...task('KEY', 'd', HIDDEN), title: 'Deploy', taskType: 'deploy' };
    await change({ tasks: [task('KEY', 'a')] });
    const kept = await change({ tasks: [alone] });
    expect(kept).toMatchObject({ status: 200, body: { tasks: [alone] } });
  });

  it('a secret that cannot be opened fails its due time', async () => {
    const schedule = await create({ tasks: [{ ...COMMAND, secrets: { KEY: 'swordfish-2' } }] });
    await server.db.owner.query(
      `UPDATE schedule_secrets SET sealed = replace(sealed::text, 'drover-sealed:1:', 'drover-sealed:1:x')::jsonb
       WHERE schedule_id = $1`,
      [schedule.id],
    );
    await makeDue(schedule);
    await sweep();
    expect(await occurrencesOf(schedule)).toMatchObject([
      { outcome: 'failed', reason: 'secrets_unreadable' },
    ]);
    expect(await workspace.api.post(`/schedules/${schedule.id}/run`)).toMatchObject({
      status: 409,
      body: { code: 'secrets_unreadable' },
    });
  });
});
