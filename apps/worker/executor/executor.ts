import type { ProcessRef, SessionSignal } from '#lib/runtime';
import type {
  ClaimedTaskBody,
  EntryLevel,
  JsonObject,
  ProgressReport,
  RunFailure,
} from '../api/types.js';
import type { RunFolder } from '../runs/run-folder.js';

/** What an executor gets to do its work. */
export interface Job {
  runId: string;
  task: ClaimedTaskBody;
  /** A credential for this run's own reports, and for nothing else. */
  runToken: string;
  generation: number;
  apiUrl: string;
  /** Made before, removed after: the executor may use it as it likes. */
  folder: RunFolder;
  report: JobReports;
}

/** A line for the log, or one that is made readable only if it is kept. */
export type LogLine = string | { size: number; show: () => string };

/** How a job speaks while it runs. None of these fails, and none waits. */
export interface JobReports {
  /** Secrets are redacted by the executor; the amount is bounded behind this. */
  log(level: EntryLevel, line: LogLine, event: string): void;
  progress(report: ProgressReport): void;
  /** Called once, as soon as there is a process that a next life of the worker would have to end. */
  started(leader: ProcessRef): void;
}

export type Outcome =
  | { kind: 'succeeded'; result?: JsonObject; summary?: string }
  | { kind: 'failed'; error: RunFailure };

/** Work under way. */
export interface Execution {
  /**
   * Resolves when nothing of the job is left: no process, no open connection. Never rejects.
   */
  readonly outcome: Promise<Outcome>;
  /**
   * Asks the job to end, and ends it by force after `graceMs`. May be called again: the earliest
   * deadline counts.
   */
  stop(graceMs: number): void;
  /** Lets the job know what is thought of it, or why it is asked to end. Never fails. */
  tell(signal: SessionSignal): void;
}

/**
 * One way of executing tasks, chosen by `inputContext.kind` or the task's type.
 * testing/executor-conformance.ts says what every executor must do.
 */
export interface Executor {
  readonly kind: string;
  /** @throws SetupError when the task can't be executed as it is written, on any attempt */
  start(job: Job): Promise<Execution>;
}

/** The task itself, or this machine, is not fit for it: nothing was executed. */
export class SetupError extends Error {
  constructor(
    message: string,
    /** Whether another attempt may find it otherwise. */
    readonly retryable = false,
  ) {
    super(message);
  }

  toFailure(): RunFailure {
    const failureClass = this.retryable ? 'infrastructure' : 'setup';
    return { message: this.message, class: failureClass, retryable: this.retryable };
  }
}
