import type { components, DroverClient } from '#lib/api-client';

type Schemas = components['schemas'];

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** A claimed task. The fields are those of the API. */
export interface Task<Input = JsonObject, Checkpoint = JsonObject> extends Omit<
  Schemas['ClaimedWork'],
  'inputContext' | 'checkpointData' | 'secrets'
> {
  /** The input with its secret values; `{}` without one. */
  inputContext: Input;
  /** The latest checkpoint of an earlier run; `{}` without one. */
  checkpointData: Partial<Checkpoint>;
  /** The secret variables; `{}` without any. */
  secrets: Record<string, string>;
}

/** The order that aborts `ctx.signal`: its reason, and the error that `throwIfAborted` throws. */
export interface StopOrder {
  /** `pause`: store a checkpoint, because a later run continues. `stop`: end the work. */
  action: 'pause' | 'stop';
  /**
   * A code: `pause`, `drain` (the worker stops), `timeout`, `budget`, `question`, or the reason why
   * the run is no longer live, such as `cancelled` or `stale_run`.
   */
  reason: string;
  /** Seconds until the worker reports the end of the run without the handler. */
  graceSeconds: number;
}

/** A question to people. */
export type Question = Pick<
  Schemas['AskQuestion'],
  'prompt' | 'choices' | 'freeText' | 'deadlineSeconds' | 'deadlineAt' | 'onDeadline' | 'default'
>;

/** The tokens of one or more requests to a model. */
export type Usage = Omit<Schemas['UsageReport'], 'id'> & {
  /** The server counts an id once for each run. Default: a new id. */
  id?: string;
};

/** The log of a task, which people read. Up to 1 MiB a run. */
export type TaskLog = Record<
  'debug' | 'info' | 'warn' | 'error',
  (message: string, details?: JsonObject) => void
>;

/** The run of a handler. Nothing of it takes effect after the run's end. */
export interface TaskContext<Checkpoint = JsonObject> {
  readonly run: Pick<
    Schemas['ClaimedRun'],
    'id' | 'generation' | 'deadlineAt' | 'model' | 'traceparent'
  >;
  /**
   * Aborted when the run must end: its task was paused or cancelled, its time is over, the worker
   * stops, or another run replaced it. The reason is a `RunStopped`. A handler that throws it, as
   * `ctx.signal.throwIfAborted()` does, costs no attempt. A handler that returns has completed.
   */
  readonly signal: AbortSignal;
  /** The API with the token of this run: subtasks, artifacts, budgets. */
  readonly client: DroverClient;
  readonly log: TaskLog;
  /**
   * Reports progress; the worker sends the latest at most every 200 ms.
   *
   * @param percent 0 to 100
   * @param step cut at 500 characters
   * @throws TypeError if the percent is not a finite number
   */
  progress(percent: number, step?: string): void;
  /**
   * Stores the state from which a later run resumes. It replaces the previous checkpoint.
   *
   * @returns when the server has it; it waits through an outage
   * @throws RunStopped if the run is no longer live, DroverProblem if the server refuses it
   */
  checkpoint(state: Checkpoint): Promise<void>;
  /**
   * Counts tokens on the budgets of the task. The worker stores the report on disk until the server
   * has it, also after the end of the run.
   *
   * @throws TypeError if the server would refuse the report
   */
  usage(report: Usage): void;
  /**
   * Asks people, and returns the answer. While nobody has answered, it ends this run without counting an attempt:
   * it throws a `RunStopped` with the reason `question`. The next run calls the handler again with
   * the checkpoint, and this call then returns the answer to the same `prompt`.
   */
  ask(question: Question): Promise<string>;
  /**
   * Calls the listener when the run seems to hang (`hung`) or has used 90 % of a budget (`budget`).
   * Progress or a checkpoint withdraws `hung`. The task's log shows the error of a listener.
   */
  onWarning(listener: (reason: string) => void | Promise<void>): void;
}

/**
 * Executes one task. The returned object is the result of the task. An error fails the run, and the
 * server decides about a retry.
 */
export type TaskHandler<Input = JsonObject, Checkpoint = JsonObject> = (
  task: Task<Input, Checkpoint>,
  ctx: TaskContext<Checkpoint>,
) => Promise<object | void> | object | void;

/** A handler of any input, which its own type can narrow. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyTaskHandler = TaskHandler<any, any>;

export interface WorkerOptions {
  /** The handlers by task type. The worker claims tasks of these types only. 1 to 100. */
  tasks: Record<string, AnyTaskHandler>;
  /** The address of Drover. Default: DROVER_API_URL, then DROVER_URL. */
  url?: string;
  /** An API key with the scope `agents:write`. Default: DROVER_API_KEY. */
  apiKey?: string;
  /** The name of the agent. Default: DROVER_WORKER_NAME, then the host name. */
  name?: string;
  /** The worker also claims tasks that require these capabilities. */
  capabilities?: string[];
  /** The number of runs at once, 1 to 100; default 1. */
  concurrency?: number;
  /** The folder of the worker's state; default `.drover/worker`. */
  dataDir?: string;
  /** The seconds of a run whose task has no timeout; default no limit. */
  timeoutSeconds?: number;
  /** The seconds for handlers to finish when the worker stops; default 10. */
  drainSeconds?: number;
  /** The seconds between the abort of `ctx.signal` and the report without the handler; default 10. */
  graceSeconds?: number;
  /** The lowest level of the worker's own log; default `info`. */
  logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Writes a line of the worker's own log, a JSON object; default to standard error. */
  writeLog?: (line: string) => void;
  /** False: the program calls `stop` itself on SIGTERM, SIGINT and SIGHUP; default true. */
  signals?: boolean;
}
