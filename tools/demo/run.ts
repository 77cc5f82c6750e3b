import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CleanupScope } from '#lib/local-servers';
import { checkInvariants } from '#lib/invariants';
import { projectRoot } from '#lib/kernel';
import { Sentence } from '../shared/sentence.js';
import { type AgentStory, type Place, playAgent } from './agent/play.js';
import { type DemoAgent, type NoAgent, prepareAgent } from './agent/prepare.js';
import { useUpBudget } from './budget.js';
import { Fleet, untilIdle } from './fleet.js';
import { follow, isOver, type Task } from './follow.js';
import { jobRequest, TASKS } from './job.js';
import { measureSpeed } from './measure.js';
import { type Killed, Murder } from './murder.js';
import type { Findings } from './outcome.js';
import { invitePeople, type People } from './people.js';
import { proveResumed } from './proof.js';
import { VICTIM } from './settings.js';
import { setStage, type Stage } from './stage.js';
import { readLog, recoveryOf } from './timeline.js';
import type { Screen } from './view/screen.js';
import {
  agentLines,
  budgetLines,
  invariantLines,
  measurementLines,
  proofLines,
  timelineLines,
} from './view/story.js';
import { TaskTable } from './view/table.js';
import type { Paint } from './view/text.js';

const NOT_ASKED = 'not asked here: that Valkey can be rebuilt, which tests show';

export interface View {
  screen: Screen;
  paint: Paint;
  /** Tells whether somebody watches the dashboard. */
  open: boolean;
  /** Tells whether a coding agent takes part. */
  withAgent: boolean;
}

/** Runs the whole demo, from an empty folder to the findings, and prints its steps. */
export async function runDemo(scope: CleanupScope, view: View): Promise<Findings> {
  const { screen, paint } = view;
  const demoAgent = view.withAgent
    ? await prepareAgent(scope, (line) => screen.say(line))
    : { reason: 'It was left out, as you said (--without-agent).' };
  if (scope.signal.aborted) throw new Sentence('Stopped.');
  const stage = await setStage(scope, (text) => screen.note(text));
  screen.note('inviting people');
  const people = await invitePeople(stage);
  screen.note('starting three workers');
  const fleet = await Fleet.start(scope, stage, people);
  await untilIdle(people.member);
  screen.say(introduction(stage, fleet));
  if (view.open) screen.say(invitation(stage));
  const job = await runJob({ scope, view, stage, people, fleet });
  await requireComplete(job.tasks, stage, view);
  screen.note('using up a budget');
  const budget = await useUpBudget(scope, people);
  const agent = await runAgent(demoAgent, { scope, stage, people }, screen);
  screen.note('measuring an idle fleet');
  const speed = await measureSpeed(scope, people);
  const log = await readLog(people.member, job.victim.id);
  const invariants = await checkInvariants(stage.database.service);
  const recovery = recoveryOf(log, job.killed.at);
  const resumed = proveResumed(job.shared, job.victim);
  const { killed, victim, tasks } = job;
  chapter(view, 'The report', readReport(job.shared));
  chapter(view, `The task "${victim.title}"`, [
    ...timelineLines(log, { killed, fleet, paint }),
    ...proofLines(resumed),
  ]);
  chapter(view, 'A budget', budgetLines(budget));
  chapter(
    view,
    'A change by a coding agent',
    'reason' in agent ? [agent.reason] : agentLines(agent),
  );
  const measured = { tasks: tasks.length, seconds: job.seconds };
  chapter(view, 'Measured', measurementLines(recovery, speed, measured));
  chapter(view, 'What must always hold', [...invariantLines(invariants, paint), NOT_ASKED]);
  if (view.open) await untilStopped(scope, view, { stage, agent });
  const completed = tasks.filter(({ status }) => status === 'COMPLETED').length;
  return {
    tasks: { total: tasks.length, completed },
    jobSeconds: job.seconds,
    speed,
    killed: {
      worker: killed.worker.name,
      task: victim.title,
      atPercent: killed.progressPercent,
      finishedBy: fleet.nameOf(victim.agentId),
    },
    recovery,
    resumed,
    budget,
    agent,
    invariants,
  };
}

async function runAgent(
  agent: DemoAgent | NoAgent,
  place: Omit<Place, 'note'>,
  screen: Screen,
): Promise<AgentStory | NoAgent> {
  if ('reason' in agent) return agent;
  screen.note(`having ${agent.kind.title} change a repository`);
  return playAgent(agent, { ...place, note: (text) => screen.note(text) });
}

function invitation({ address, administrator }: Stage): string {
  const { email, password } = administrator;
  return `The dashboard is at ${address}/ (${email}, ${password}); choose the workspace Demo`;
}

/** Keeps the demo running, so that the user can look at its results for as long as they want. */
async function untilStopped(
  scope: CleanupScope,
  { screen }: View,
  { stage, agent }: { stage: Stage; agent: AgentStory | NoAgent },
): Promise<void> {
  screen.say(`\n${invitation(stage)}. Ctrl-C ends all of it.`);
  if ('changeId' in agent) {
    screen.say(`The change of the agent is at ${stage.address}/reviews/${agent.changeId}`);
  }
  if (scope.signal.aborted) return;
  await once(scope.signal, 'abort');
}

interface Cast {
  scope: CleanupScope;
  view: View;
  stage: Stage;
  people: People;
  fleet: Fleet;
}

interface JobDone {
  tasks: Task[];
  victim: Task;
  killed: Killed;
  shared: string;
  seconds: number;
}

async function runJob({ scope, view, stage, people, fleet }: Cast): Promise<JobDone> {
  const { screen, paint } = view;
  const shared = join(stage.folder, 'shared');
  mkdirSync(shared, { mode: 0o700 });
  const { member, projectId } = people;
  const began = performance.now();
  const request = jobRequest({ projectId, root: projectRoot, shared });
  const { items } = await member.post('/api/v1/agent-tasks/batch', { body: request });
  const ids = items.map(({ id }) => id);
  const victimId = ids[TASKS.findIndex(({ ref }) => ref === VICTIM)] ?? '';
  const table = new TaskTable(screen, paint, fleet);
  const murder = new Murder(fleet, victimId);
  const see = (tasks: Task[]): void => {
    table.show(tasks);
    const killed = murder.consider(tasks);
    if (killed === undefined) return;
    const { worker, progressPercent } = killed;
    const where = `in the middle of its task, at ${progressPercent} %`;
    screen.say(
      paint(
        'red',
        `SIGKILL for the worker ${worker.name} (process ${worker.process.pid}), ${where}`,
      ),
    );
  };
  const tasks = await follow(member, ids, { scope, filter: { tags: ['demo'] }, see });
  const seconds = (performance.now() - began) / 1000;
  table.finish(tasks);
  const victim = tasks.find(({ id }) => id === victimId);
  if (!victim || !murder.killed)
    throw new Sentence('The task was over before its worker was killed.');
  return { tasks, victim, killed: murder.killed, shared, seconds };
}

/** Even a failed job must have left the database in order. Print the result of the check. */
async function requireComplete(tasks: Task[], { database }: Stage, view: View): Promise<void> {
  const failed = tasks.find((task) => isOver(task) && task.status !== 'COMPLETED');
  if (failed === undefined) return;
  const invariants = await checkInvariants(database.service);
  chapter(view, 'What must always hold', invariantLines(invariants, view.paint));
  const why = failed.lastError ?? failed.status;
  throw new Sentence(`The task "${failed.title}" did not complete: ${why}`);
}

function introduction(stage: Stage, fleet: Fleet): string {
  const workers = fleet.workers.map(({ name, process }) => `${name} ${process.pid}`).join(', ');
  return `server at ${stage.address} (process ${stage.server.pid}), workers ${workers}; API docs at ${stage.address}/docs`;
}

function readReport(shared: string): string[] {
  return readFileSync(join(shared, 'report.txt'), 'utf8').trimEnd().split('\n');
}

function chapter({ screen, paint }: View, title: string, lines: readonly string[]): void {
  screen.say('');
  screen.say(paint('bold', title));
  for (const line of lines) screen.say(line === '' ? '' : `  ${line}`);
}
