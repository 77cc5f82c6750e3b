import {
  type Agent,
  type Edge,
  endedBadly,
  type Estimate,
  isLive,
  isReady,
  isSwitchedOff,
  liveRunsOf,
  type Model,
  type Policy,
  type Retry,
  type Run,
  type RunState,
  type Status,
  type Task,
  unmet,
  waitsFor,
} from './state.js';

/** The answer of a correct server: the status, and the code of a refusal. */
export type Verdict =
  | 200
  | 201
  | 'illegal_transition'
  | 'stale_run'
  | 'lease_renewals_exhausted'
  | 'dependency_locked'
  | 'dependency_cycle'
  | 'agent_terminated'
  | 'question_closed'
  | 'validation_failed';

const EDGES: Record<Status, readonly Status[]> = {
  PENDING: ['ASSIGNED', 'PAUSED', 'FAILED', 'ABORTED'],
  ASSIGNED: ['RUNNING', 'PENDING', 'PAUSED', 'COMPLETED', 'ABORTED'],
  RUNNING: ['PAUSED', 'COMPLETED', 'FAILED', 'ABORTED'],
  PAUSED: ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'ABORTED'],
  ABORTED: ['PENDING', 'ABORTED', 'FAILED', 'ARCHIVED'],
  FAILED: ['PENDING', 'ARCHIVED'],
  COMPLETED: ['ARCHIVED'],
  ARCHIVED: [],
};

export const may = (task: Task, to: Status): boolean => EDGES[task.status].includes(to);

/** Moves the task along an edge, and adds one version and one line of the log. */
export function move(model: Model, task: Task, to: Status, retry: Retry = 'none'): void {
  if (!may(task, to)) throw new Error(`the model itself moves from ${task.status} to ${to}`);
  task.version += 1;
  task.log.push(`${task.status} > ${to}`);
  task.status = to;
  if (task.question) task.question.status = 'cancelled';
  task.question = null;
  task.retry = retry;
  if (to === 'PENDING') {
    Object.assign(task, { abortReason: null, failureReason: null, untold: false, run: null });
    task.estimate = 'none';
    task.readySince = model.clock;
  }
  if (to === 'COMPLETED') Object.assign(task, { completed: true, progressPercent: 100 });
  if (to === 'COMPLETED' || to === 'FAILED') task.untold = task.hasDependents;
  if (to === 'ABORTED') task.untold = task.hasDependents && retry === 'none';
}

/** Judges a task in the queue again after a prerequisite has ended. */
export function reconsider(task: Task): void {
  for (const { on, settled } of task.edges) {
    if (!settled && (on.completed || endedBadly(on))) on.untold = true;
  }
}

export function endRun(run: Run | null, state: RunState, endReason: string): void {
  if (run === null) return;
  Object.assign(run, { state, endReason });
  run.task.run = null;
}

export function create(
  model: Model,
  values: Pick<Task, 'id' | 'taskType' | 'priority' | 'maxRetries' | 'backoff' | 'estimated'>,
  edges: readonly { on: Task; policy: Policy }[],
): void {
  model.clock += 1;
  const task: Task = {
    ...values,
    status: 'PENDING',
    version: 1,
    log: ['task_created'],
    generation: 0,
    retryCount: 0,
    retry: 'none',
    abortReason: null,
    failureReason: null,
    run: null,
    edges: [],
    question: null,
    answers: [],
    hasDependents: false,
    untold: false,
    completed: false,
    checkpoint: null,
    suspended: false,
    progressPercent: 0,
    estimate: 'none',
    readySince: model.clock,
  };
  // A task that ignores how its prerequisite ended learns the end from the coordinator.
  for (const { on, policy } of edges) writeEdge(task, { on, policy, settled: on.completed });
  model.tasks.push(task);
}

function writeEdge(task: Task, { on, policy, settled }: Edge): void {
  const known = task.edges.find((edge) => edge.on === on);
  const mattersNow = known?.policy === 'ignore' && policy !== 'ignore';
  const wasSettled = known !== undefined && known.settled && !mattersNow;
  if (known) Object.assign(known, { policy, settled: wasSettled || settled });
  else task.edges.push({ on, policy, settled });
  on.hasDependents = true;
  if (endedBadly(on)) on.untold = true;
}

export function isSatisfied(on: Task, policy: Policy): boolean {
  return on.completed || (policy === 'ignore' && endedBadly(on));
}

export function depend(model: Model, task: Task, on: Task, policy: Policy): Verdict {
  if (task.status !== 'PENDING') return 'dependency_locked';
  if (task.edges.some((edge) => edge.on === on && edge.policy === policy)) return 200;
  if (waitsFor(on, task)) return 'dependency_cycle';
  model.clock += 1;
  const wasReady = unmet(task) === 0;
  writeEdge(task, { on, policy, settled: isSatisfied(on, policy) });
  task.version += 1;
  task.log.push('dependencies_changed');
  if (!wasReady) task.readySince = model.clock;
  return 200;
}

/** Returns the tasks that an agent can claim now. */
export function claimable(model: Model): Task[] {
  return model.tasks.filter(
    (task) => isReady(task) && !task.suspended && !isSwitchedOff(model, task.taskType),
  );
}

/** The number of tasks that an agent can get. */
export function roomOf(model: Model, agent: Agent): number {
  if (agent.life !== 'ACTIVE' || isSwitchedOff(model, null)) return 0;
  return agent.room - liveRunsOf(model, agent).length;
}

/** Returns the reason that an agent hears with an empty claim. */
export function whyNothing(model: Model, agent: Agent): string {
  if (agent.life === 'ERROR') return 'agent_in_error';
  if (liveRunsOf(model, agent).length >= agent.room) return 'agent_full';
  const heldBack = model.tasks.some((task) => isReady(task) && isSwitchedOff(model, task.taskType));
  return heldBack || isSwitchedOff(model, null) ? 'paused' : 'nothing_ready';
}

/** Tells whether `first` precedes `second`, as far as the model knows. */
export function isBefore(first: Task, second: Task): boolean {
  if (first.priority !== second.priority) return first.priority > second.priority;
  return first.readySince < second.readySince;
}

export function claim(
  model: Model,
  task: Task,
  values: { agent: Agent; runId: string; byHand: boolean },
): void {
  const { agent, runId, byHand } = values;
  move(model, task, 'ASSIGNED');
  task.generation += 1;
  const byHeartbeat = !byHand && agent.pulse !== 'mute';
  const run: Run = {
    id: runId,
    task,
    agent,
    state: 'ASSIGNED',
    endReason: null,
    started: false,
    byHeartbeat,
    leasePassed: false,
    renewals: 0,
    silent: false,
    warning: 'none',
  };
  task.run = run;
  model.runs.push(run);
}

export function start(model: Model, run: Run): Verdict {
  if (!isLive(run)) return 'stale_run';
  if (run.task.status === 'RUNNING') return 200;
  if (run.task.status !== 'ASSIGNED') return 'illegal_transition';
  move(model, run.task, 'RUNNING');
  if (run.task.estimated) run.task.estimate = 'ahead';
  Object.assign(run, { state: 'WORKING', started: true });
  return 200;
}

export interface Progress {
  progressPercent?: number;
  checkpoint?: number;
  estimate?: Estimate;
}

/**
 * The task keeps the progress, whatever the end of the run is. A run that reports does not hang. Its
 * first report starts the task.
 */
export function progress(model: Model, run: Run, said: Progress): Verdict {
  if (!isLive(run)) return 'stale_run';
  if (run.task.status === 'ASSIGNED') start(model, run);
  Object.assign(run.task, said);
  Object.assign(run, { silent: false, warning: 'none' });
  return 200;
}

export function complete(model: Model, run: Run): Verdict {
  if (!isLive(run)) return run.state === 'COMPLETED' ? 200 : 'stale_run';
  const { task } = run;
  move(model, task, 'COMPLETED');
  endRun(run, 'COMPLETED', 'completed');
  return 200;
}

export function fail(model: Model, run: Run, reason: string, said?: boolean): Verdict {
  if (!isLive(run)) return run.state === 'FAILED' ? 200 : 'stale_run';
  recover(model, run, { reason, retryable: said ?? reason !== 'setup' });
  return 200;
}

/** Applies the effect of a run that has ended without success. */
export function recover(model: Model, run: Run, how: { reason: string; retryable: boolean }): void {
  const { task } = run;
  const { reason, retryable } = how;
  if (task.status !== 'PAUSED') {
    const again = retryable && task.retryCount < task.maxRetries;
    const failureReason = retryable ? 'retries_exhausted' : reason;
    if (again || task.status === 'ASSIGNED') {
      move(model, task, 'ABORTED', again ? (task.backoff ? 'later' : 'due') : 'none');
      task.abortReason = reason;
    }
    if (again) task.retryCount += 1;
    else {
      move(model, task, 'FAILED');
      task.failureReason = failureReason;
    }
  }
  endRun(run, 'FAILED', reason);
}

export function release(model: Model, run: Run, reason = 'released'): Verdict {
  if (!isLive(run)) return run.state === 'RELEASED' ? 200 : 'stale_run';
  const { task } = run;
  if (task.status === 'ASSIGNED') {
    model.clock += 1;
    move(model, task, 'PENDING');
  } else if (task.status === 'RUNNING') {
    move(model, task, 'ABORTED', 'due');
    task.abortReason = 'released';
  }
  endRun(run, 'RELEASED', reason);
  return 200;
}

export function renew(run: Run, atMost: number): Verdict {
  if (!isLive(run)) return 'stale_run';
  if (run.renewals >= atMost) return 'lease_renewals_exhausted';
  run.renewals += 1;
  run.leasePassed = false;
  return 200;
}

export function deregister(model: Model, agent: Agent): Verdict {
  if (agent.life === 'TERMINATED') return 200;
  for (const run of liveRunsOf(model, agent)) release(model, run, 'deregistered');
  agent.life = 'TERMINATED';
  return 200;
}
