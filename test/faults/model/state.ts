/**
 * The states of tasks and runs, as docs/task-lifecycle.md describes them. Written from that page,
 * with nothing of the program: where the two differ, one of them is wrong.
 */

export type Status =
  | 'PENDING'
  | 'ASSIGNED'
  | 'RUNNING'
  | 'PAUSED'
  | 'COMPLETED'
  | 'FAILED'
  | 'ABORTED'
  | 'ARCHIVED';

export type RunState = 'ASSIGNED' | 'WORKING' | 'STALE' | 'COMPLETED' | 'FAILED' | 'RELEASED';
export type Policy = 'block' | 'fail' | 'ignore';

/** The time of the retry: none, at the next sweep, or long after. */
export type Retry = 'none' | 'due' | 'later';

export type Estimate = 'none' | 'ahead' | 'past';

export interface Edge {
  on: Task;
  policy: Policy;
  settled: boolean;
}

export interface Task {
  id: string;
  status: Status;
  version: number;
  /** The task's log, one entry for each version. */
  log: string[];
  taskType: string;
  priority: number;
  generation: number;
  retryCount: number;
  maxRetries: number;
  /** True if its retries come after a long time, not at once. */
  backoff: boolean;
  retry: Retry;
  abortReason: string | null;
  failureReason: string | null;
  run: Run | null;
  edges: Edge[];
  /** The question whose answer the task waits for. */
  question: Question | null;
  answers: string[];
  hasDependents: boolean;
  /** Its dependents have not been updated after its end. */
  untold: boolean;
  /** True once it has completed, even if it is archived. */
  completed: boolean;
  /** Counts the moments at which tasks became ready. Several tasks can share one. */
  readySince: number;
  checkpoint: number | null;
  progressPercent: number;
  /** True if it was created with an estimate of its duration. */
  estimated: boolean;
  /** Its due date: none, later, or long ago. */
  estimate: Estimate;
  /** True while its type is paused, and then until the next sweep. It does not delay the others. */
  suspended: boolean;
}

export interface Run {
  id: string;
  task: Task;
  agent: Agent;
  state: RunState;
  endReason: string | null;
  started: boolean;
  byHeartbeat: boolean;
  leasePassed: boolean;
  renewals: number;
  /** Is true after so long without progress that the run may hang. */
  silent: boolean;
  /** The warning that the run seems to hang. An old warning is followed by the end of the run. */
  warning: 'none' | 'fresh' | 'old';
}

export type OnDeadline = 'default' | 'fail';

/** A question of an agent to people. */
export interface Question {
  id: string;
  run: Run;
  task: Task;
  prompt: string;
  onDeadline: OnDeadline;
  status: 'open' | 'answered' | 'expired' | 'cancelled';
  answer: string | null;
  byUser: boolean;
  /** True if its deadline has passed. */
  isDue: boolean;
}

/**
 * The state of an agent by its heartbeats. `mute`: it never sends heartbeats, and its leases count
 * alone.
 */
export type Pulse = 'heartbeats' | 'missed' | 'dead' | 'mute';

export interface Agent {
  id: string;
  room: number;
  pulse: Pulse;
  life: 'ACTIVE' | 'ERROR' | 'TERMINATED';
}

/** A pause that holds back the tasks of a type, or all. */
export interface Switch {
  id: string;
  taskType: string | null;
  until: 'never' | 'ahead' | 'past';
  ended: boolean;
}

export interface Model {
  tasks: Task[];
  runs: Run[];
  agents: Agent[];
  switches: Switch[];
  questions: Question[];
  clock: number;
}

export function emptyModel(): Model {
  return { tasks: [], runs: [], agents: [], switches: [], questions: [], clock: 0 };
}

export function unmet(task: Task): number {
  return task.edges.filter((edge) => !edge.settled).length;
}

export function isReady(task: Task): boolean {
  return task.status === 'PENDING' && unmet(task) === 0;
}

export function holds({ ended, until }: Switch): boolean {
  return !ended && until !== 'past';
}

/** A task type. Null pauses the whole workspace. */
export function isSwitchedOff(model: Model, taskType: string | null): boolean {
  return model.switches.some((each) => each.taskType === taskType && holds(each));
}

/** Ended for good without success: only a manual retry resumes it. */
export function endedBadly({ status, retry, completed }: Task): boolean {
  if (status === 'ABORTED') return retry === 'none';
  return status === 'FAILED' || (status === 'ARCHIVED' && !completed);
}

export function isLive(run: Run): boolean {
  return run.task.run === run;
}

export function liveRunsOf(model: Model, agent: Agent): Run[] {
  return model.runs.filter((run) => run.agent === agent && isLive(run));
}

/** Tells whether a task would wait for itself. A completed task waits for nothing. */
export function waitsFor(from: Task, target: Task, seen = new Set<Task>()): boolean {
  if (from === target) return true;
  if (from.completed || seen.has(from)) return false;
  seen.add(from);
  return from.edges.some((edge) => waitsFor(edge.on, target, seen));
}
