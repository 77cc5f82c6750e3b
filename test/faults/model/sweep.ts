import { expireQuestions } from './questions.js';
import { endRun, isSatisfied, move, recover } from './rules.js';
import {
  type Edge,
  endedBadly,
  isLive,
  isReady,
  isSwitchedOff,
  type Model,
  type Run,
  type Task,
  unmet,
} from './state.js';

/** Runs the coordinator's steps until nothing is left to do. */
export function sweep(model: Model): void {
  model.clock += 1;
  for (const agent of model.agents) {
    if (agent.pulse === 'dead' && agent.life === 'ACTIVE') agent.life = 'ERROR';
  }
  for (const run of model.runs.filter(isLive)) {
    const isOver = run.leasePassed && !run.byHeartbeat;
    const isLost = run.agent.life === 'ERROR';
    if (isOver) recover(model, run, { reason: 'lease_expired', retryable: true });
    else if (isLost) recover(model, run, { reason: 'agent_stale', retryable: true });
    else if (run.byHeartbeat) watch(run);
  }
  promote(model);
  expireQuestions(model);
  tellDependents(model, untoldOf(model));
  // Runs last in a cycle: its consequences follow in the next cycle.
  for (const run of model.runs.filter(mayHang)) judgeSilence(model, run);
  promote(model);
  for (let ended = untoldOf(model); ended.length > 0; ended = untoldOf(model)) {
    tellDependents(model, ended);
  }
  suspend(model);
}

function suspend(model: Model): void {
  for (const each of model.switches) if (each.until === 'past') each.ended = true;
  for (const task of model.tasks) {
    const isOff = isSwitchedOff(model, task.taskType);
    task.suspended = isOff && (task.suspended || isReady(task));
  }
}

function promote(model: Model): void {
  for (const task of model.tasks) {
    if (task.status === 'ABORTED' && task.retry === 'due') move(model, task, 'PENDING');
  }
}

const mayHang = (run: Run): boolean => isLive(run) && run.task.status === 'RUNNING';

function judgeSilence(model: Model, run: Run): void {
  if (run.warning === 'old') recover(model, run, { reason: 'timeout', retryable: true });
  else if (run.silent && run.task.estimate === 'past') run.warning = 'fresh';
}

/** Sets and clears warnings. */
function watch(run: Run): void {
  const missed = run.agent.pulse === 'missed';
  if (run.state === 'WORKING' && missed) run.state = 'STALE';
  else if (run.state === 'STALE' && !missed) run.state = 'WORKING';
}

const untoldOf = (model: Model): Task[] => model.tasks.filter(({ untold }) => untold);

/** Tells the dependents of all tasks that have ended at once. */
function tellDependents(model: Model, ended: readonly Task[]): void {
  const waiting = model.tasks.filter((task) => {
    const isOpen = task.status !== 'COMPLETED' && task.status !== 'ARCHIVED';
    return isOpen && task.edges.some(({ on, settled }) => ended.includes(on) && !settled);
  });
  const failing = waiting.filter(failsWithAnother);
  for (const task of ended) task.untold = false;
  for (const task of failing) {
    move(model, task, 'FAILED');
    task.failureReason = 'dependency_failed';
    endRun(task.run, 'RELEASED', 'dependency_failed');
  }
  for (const task of waiting) {
    for (const edge of task.edges) if (isSatisfied(edge.on, edge.policy)) edge.settled = true;
    if (task.status !== 'FAILED' && unmet(task) === 0) task.readySince = model.clock;
  }
}

function failsWithAnother(task: Task): boolean {
  const isWaiting = task.status === 'PENDING' || task.status === 'PAUSED';
  const fails = ({ on, policy, settled }: Edge): boolean =>
    !settled && policy === 'fail' && endedBadly(on);
  return isWaiting && task.edges.some(fails);
}
