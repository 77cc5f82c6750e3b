import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, hasAgents, hasRuns, hasTasks, index } from './deed.js';
import { changingPulse, leasePassing, leavingAgent, retryComingDue, sweeping } from './time.js';
import { STEPS } from './replay.js';
import {
  checkpoint,
  claim,
  claimable,
  complete,
  create,
  depend,
  fail,
  isBefore,
  release,
  renew,
  roomOf,
  start,
  type Verdict,
  whyNothing,
} from './rules.js';
import {
  type Agent,
  isLive,
  type Model,
  type Policy,
  type Pulse,
  type Run,
  type Task,
} from './state.js';
import { liftingSwitch, switchEnding, switchingOff, taskType } from './switches.js';
import { type Command, COMMANDS } from './user-rules.js';
import { verdictOf, type World } from './world.js';

const RENEWALS = 2;
/** Few, so that much happens to each. */
const TASKS_AT_MOST = 6;
// Without the slow search for what disagrees: it settles edges that those who failed would else keep until a retry.
export const MODEL_ENV = {
  ROLES: 'api',
  MAX_CLAIM_RENEWALS: String(RENEWALS),
  RECONCILE_INTERVAL_SECONDS: '86400',
};

const policy = fc.constantFrom<Policy>('block', 'fail', 'ignore');

const creation = fc
  .record({
    taskType,
    priority: fc.integer({ min: 1, max: 3 }),
    maxRetries: fc.integer({ min: 0, max: 2 }),
    backoff: fc.boolean(),
    edges: fc.array(fc.record({ on: index, policy }), { maxLength: 2 }),
  })
  .map(({ edges, ...values }) => {
    const name = `create(${values.taskType}, priority ${values.priority}, ${values.maxRetries} retries, waits for ${JSON.stringify(edges)})`;
    return new Deed(
      name,
      (model) => model.tasks.length < TASKS_AT_MOST,
      async (model, world) => {
        const wanted = new Map(
          model.tasks.length === 0
            ? []
            : edges.map((edge) => [at(model.tasks, edge.on), edge.policy]),
        );
        const answer = await world.api.post<{ id: string }>('/agent-tasks', {
          ...{ title: 'Modelled', taskType: values.taskType, priority: values.priority },
          ...{ maxRetries: values.maxRetries, retryBackoffSeconds: values.backoff ? 86_400 : 0 },
          dependsOn: [...wanted].map(([task, how]) => ({ taskId: task.id, policy: how })),
        });
        expect(answer.status).toBe(201);
        const made = [...wanted].map(([on, how]) => ({ on, policy: how }));
        create(model, { id: answer.body.id, ...values }, made);
      },
    );
  });

const dependency = fc.record({ task: index, on: index, policy }).map(
  (given) =>
    new Deed(`depend(${JSON.stringify(given)})`, hasTasks, async (model, world) => {
      const [task, on] = [at(model.tasks, given.task), at(model.tasks, given.on)];
      const dependsOn = [{ taskId: on.id, policy: given.policy }];
      const answer = await world.api.post(`/agent-tasks/${task.id}/dependencies`, { dependsOn });
      expect(verdictOf(answer)).toBe(depend(model, task, on, given.policy));
    }),
);

const commanding = fc
  .record({
    command: fc.constantFrom(...(Object.keys(COMMANDS) as Command[])),
    task: index,
  })
  .map(
    (given) =>
      new Deed(`${given.command}(${given.task})`, hasTasks, async (model, world) => {
        const task = at(model.tasks, given.task);
        const [path, body] =
          given.command === 'cascade' ? ['cancel', { cascade: true }] : [given.command, {}];
        const answer = await world.api.post(`/agent-tasks/${task.id}/${path}`, body);
        expect(verdictOf(answer)).toBe(COMMANDS[given.command](model, task));
      }),
  );

const joining = fc
  .record({ room: fc.integer({ min: 1, max: 3 }), pulse: fc.constantFrom<Pulse>('beats', 'mute') })
  .map(
    ({ room, pulse }) =>
      new Deed(
        `join(room ${room}, ${pulse})`,
        (model) => model.agents.filter((agent) => agent.life === 'ACTIVE').length < 2,
        async (model, world) => {
          const id = await world.newAgent(room, pulse);
          model.agents.push({ id, room, pulse, life: 'ACTIVE' });
        },
      ),
  );

const claiming = fc
  .record({ agent: index, maxTasks: fc.integer({ min: 1, max: 3 }), byHand: fc.boolean() })
  .map(
    (given) =>
      new Deed(`claim(${JSON.stringify(given)})`, hasAgents, (model, world) =>
        claimAs(model, world, { ...given, agent: at(model.agents, given.agent) }),
      ),
  );

async function claimAs(
  model: Model,
  world: World,
  { agent, maxTasks, byHand }: { agent: Agent; maxTasks: number; byHand: boolean },
): Promise<void> {
  const body = { maxTasks, ...(byHand && { leaseSeconds: 3_600 }) };
  const answer = await world.as(agent).post<{
    reason?: string;
    tasks: { run: { id: string }; task: { id: string; checkpointData: { n?: number } } }[];
  }>(`/agents/${agent.id}/claim`, body);
  if (agent.life === 'TERMINATED') return expect([401, 409]).toContain(answer.status);
  expect(answer.status).toBe(200);
  const ready = claimable(model);
  const given = answer.body.tasks.map(({ run, task }) => {
    const claimed = model.tasks.find(({ id }) => id === task.id) as Task;
    expect(task.checkpointData.n ?? null).toBe(claimed.checkpoint);
    return { claimed, runId: run.id };
  });
  const why = given.length === 0 ? whyNothing(model, agent) : undefined;
  expect(answer.body.reason).toBe(why);
  expect(given).toHaveLength(Math.min(ready.length, maxTasks, Math.max(roomOf(model, agent), 0)));
  for (const { claimed } of given) expect(ready).toContain(claimed);
  const left = ready.filter((task) => !given.some(({ claimed }) => claimed === task));
  const passedOver = left.filter((task) => given.some(({ claimed }) => isBefore(task, claimed)));
  expect(passedOver.map(({ id }) => id)).toEqual([]);
  for (const { claimed, runId } of given) claim(model, claimed, { agent, runId, byHand });
}

type Report = [name: string, run: Run, body: object, rule: (model: Model) => Verdict];

/** Of any run, live or not: most often of a late one. */
const REPORTS: Record<string, (run: Run, n: number) => Report> = {
  start: (run) => ['start', run, {}, (model) => start(model, run)],
  checkpoint: (run, n) => ['checkpoint', run, { checkpointData: { n } }, () => checkpoint(run, n)],
  complete: (run) => ['complete', run, {}, (model) => complete(model, run)],
  fail: (run) => [
    ...(['fail', run, { error: { message: 'on purpose', class: 'exit_code' } }] as const),
    (model) => fail(model, run, 'exit_code'),
  ],
  fail_for_good: (run) => [
    ...(['fail', run, { error: { message: 'never', class: 'setup' } }] as const),
    (model) => fail(model, run, 'setup'),
  ],
  fail_as_said: (run, n) => [
    ...(['fail', run, { error: { message: 'so', class: 'oom', retryable: n % 2 === 0 } }] as const),
    (model) => fail(model, run, 'oom', n % 2 === 0),
  ],
  release: (run) => ['release', run, {}, (model) => release(model, run)],
  renew: (run) => ['renew', run, { leaseSeconds: 3_600 }, () => renew(run, RENEWALS)],
};

const reporting = fc
  .record({
    report: fc.constantFrom('start', 'start', 'start', ...Object.keys(REPORTS)),
    run: index,
    // Else any run, which is most often one that is over.
    live: fc.nat({ max: 3 }).map((n) => n > 0),
  })
  .map(
    (given) =>
      new Deed(
        `${given.report}(${given.live ? 'live run' : 'run'} ${given.run})`,
        hasRuns,
        (model, world) => {
          const live = model.runs.filter(isLive);
          const run = at(given.live && live.length > 0 ? live : model.runs, given.run);
          const make = REPORTS[given.report] as (run: Run, n: number) => Report;
          return reportAs(model, world, make(run, given.run));
        },
      ),
  );

async function reportAs(model: Model, world: World, report: Report): Promise<void> {
  const [name, run, body, rule] = report;
  const api = world.as(run.agent);
  const path = `/runs/${run.id}/${name}`;
  const answer = await (name === 'checkpoint' ? api.put(path, body) : api.post(path, body));
  // Who is terminated is not heard at all.
  if (run.agent.life === 'TERMINATED' && answer.status === 401) return;
  expect(verdictOf(answer)).toBe(rule(model));
}

const often = <T>(count: number, deed: T): T[] => Array.from({ length: count }, () => deed);

/** Everything that can happen to tasks and runs, the more often the more there is to it. */
export const deeds = fc.commands(
  [
    ...[...often(3, creation), dependency, ...often(4, commanding), ...often(2, joining)],
    ...[...often(5, claiming), ...often(9, reporting), changingPulse, ...often(3, sweeping)],
    ...[leavingAgent, leasePassing, retryComingDue],
    ...[switchingOff, liftingSwitch, liftingSwitch, switchEnding],
  ],
  { maxCommands: 80, size: 'max', ...(STEPS !== undefined && { replayPath: STEPS }) },
);
