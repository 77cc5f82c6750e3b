import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, hasAgents, hasTasks, index, often } from './deed.js';
import { changingPulse, leasePassing, leavingAgent, retryComingDue, sweeping } from './time.js';
import { fallingSilent, listening, warnedReporting, warningAging } from './hanging.js';
import { answering, asking, deadlinePassing } from './questions.js';
import { STEPS } from './replay.js';
import { RENEWALS_AT_MOST, reporting } from './reports.js';
import { claim, claimable, create, depend, isBefore, roomOf, whyNothing } from './rules.js';
import { type Agent, type Model, type Policy, type Pulse, type Task } from './state.js';
import { liftingSwitch, switchEnding, switchingOff, taskType } from './switches.js';
import { type Command, COMMANDS } from './user-rules.js';
import { verdictOf, type World } from './world.js';

/** The number is low, so that much happens to each. */
const TASKS_AT_MOST = 10;
const OPEN_AT_MOST = 5;
export const MODEL_ENV = { ROLES: 'api', MAX_CLAIM_RENEWALS: String(RENEWALS_AT_MOST) };

const policy = fc.constantFrom<Policy>('block', 'fail', 'ignore');

const creation = fc
  .record({
    taskType,
    priority: fc.integer({ min: 1, max: 3 }),
    maxRetries: fc.integer({ min: 0, max: 2 }),
    backoff: fc.boolean(),
    estimated: fc.nat({ max: 3 }).map((n) => n > 0),
    edges: fc.array(fc.record({ on: index, policy }), { maxLength: 2 }),
  })
  .map(({ edges, ...values }) => {
    const name = `create(${values.taskType}, priority ${values.priority}, ${values.maxRetries} retries${values.estimated ? ', estimated' : ''}, waits for ${JSON.stringify(edges)})`;
    return new Deed(name, hasRoomForTasks, async (model, world) => {
      const wanted = new Map(
        model.tasks.length === 0
          ? []
          : edges.map((edge) => [at(model.tasks, edge.on), edge.policy]),
      );
      const answer = await world.api.post<{ id: string }>('/agent-tasks', {
        title: 'Modelled',
        taskType: values.taskType,
        priority: values.priority,
        maxRetries: values.maxRetries,
        retryBackoffSeconds: values.backoff ? 86_400 : 0,
        ...(values.estimated && { estimatedDurationMinutes: 10 }),
        dependsOn: [...wanted].map(([task, how]) => ({ taskId: task.id, policy: how })),
      });
      expect(answer.status).toBe(201);
      const made = [...wanted].map(([on, how]) => ({ on, policy: how }));
      create(model, { id: answer.body.id, ...values }, made);
    });
  });

function hasRoomForTasks({ tasks }: Readonly<Model>): boolean {
  const open = tasks.filter(({ completed, status }) => !completed && status !== 'ARCHIVED');
  return tasks.length < TASKS_AT_MOST && open.length < OPEN_AT_MOST;
}

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
  .record({
    room: fc.integer({ min: 1, max: 3 }),
    pulse: fc.constantFrom<Pulse>('heartbeats', 'mute'),
  })
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
        claimAs(model, world, { ...given, agent: chosenAgent(model, given.agent) }),
      ),
  );

/** Picks most often a run that may still be live. */
function chosenAgent({ agents }: Model, n: number): Agent {
  const active = agents.filter(({ life }) => life === 'ACTIVE');
  return at(n % 8 > 0 && active.length > 0 ? active : agents, n);
}

interface ClaimedTask {
  id: string;
  checkpointData: { n?: number };
  answers?: { answer: string }[];
}

async function claimAs(
  model: Model,
  world: World,
  { agent, maxTasks, byHand }: { agent: Agent; maxTasks: number; byHand: boolean },
): Promise<void> {
  const body = { maxTasks, ...(byHand && { leaseSeconds: 3_600 }) };
  const answer = await world.as(agent).post<{
    reason?: string;
    tasks: { run: { id: string }; task: ClaimedTask }[];
  }>(`/agents/${agent.id}/claim`, body);
  if (agent.life === 'TERMINATED') return expect([401, 409]).toContain(answer.status);
  expect(answer.status).toBe(200);
  const ready = claimable(model);
  const given = answer.body.tasks.map(({ run, task }) => {
    const claimed = model.tasks.find(({ id }) => id === task.id) as Task;
    expect(task.checkpointData.n ?? null).toBe(claimed.checkpoint);
    expect((task.answers ?? []).map(({ answer: text }) => text)).toEqual(claimed.answers);
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

/** All events of tasks and runs. Varied events and rarely possible ones have more weight. */
export const deeds = fc.commands(
  [
    ...often(4, creation),
    dependency,
    ...often(4, commanding),
    ...often(3, joining),
    ...often(7, claiming),
    ...often(14, reporting),
    changingPulse,
    ...often(7, sweeping),
    leavingAgent,
    leasePassing,
    ...often(2, retryComingDue),
    listening,
    ...often(9, fallingSilent),
    ...often(5, warningAging),
    ...often(5, warnedReporting),
    ...often(5, asking),
    ...often(4, answering),
    deadlinePassing,
    switchingOff,
    ...often(4, liftingSwitch),
    switchEnding,
  ],
  { maxCommands: 160, size: 'max', ...(STEPS !== undefined && { replayPath: STEPS }) },
);
