import type { KeptLine, SessionSignal } from '#lib/session-runtime';
import type { JsonObject } from '#lib/agent-host';
import type {
  ClaimedTaskBody,
  EntryLevel,
  ProgressReport,
  ProviderLimit,
  Question,
  RunFailure,
} from '../api/types.js';
import type { RunFolder } from '../runs/run-folder.js';
import type { UsageLine } from './usage-line.js';

/** One execution of a task. */
export interface Job {
  runId: string;
  task: ClaimedTaskBody;
  /** A credential for this run's own reports, and for nothing else. */
  runToken: string;
  generation: number;
  /** What it is to use, if somebody has chosen. */
  model?: string;
  modelTier?: string;
  /** Of the run's span, if it is traced. */
  traceparent?: string;
  apiUrl: string;
  folder: RunFolder;
  report: JobReports;
}

/** A line for the log, or one that is made readable only if it is kept. */
export type LogLine = string | KeptLine;

/** How a job speaks while it runs. None of these fails or waits. */
export interface JobReports {
  /** The line is redacted already; the amount is bounded behind this. */
  log(level: EntryLevel, line: LogLine, event: string): void;
  progress(report: ProgressReport): void;
  usage(reports: readonly UsageLine[]): void;
  /** The provider of its model has refused it: the job is to end. */
  refused(): void;
  /** It has asked people a question: the job is to end. */
  asked(): void;
}

export type Outcome =
  | { kind: 'succeeded'; result?: JsonObject; summary?: string }
  | { kind: 'failed'; error: RunFailure }
  | { kind: 'refused'; limit: ProviderLimit }
  | { kind: 'asked'; question: Question };

/** Work under way. */
export interface Execution {
  /** Resolves when nothing of the job is left: no process, no open connection. Never rejects. */
  readonly outcome: Promise<Outcome>;
  /**
   * Asks the job to end, and ends it by force after `graceMs`. May be called again: the earliest
   * deadline counts.
   */
  stop(graceMs: number): void;
  /** Lets the job know what is thought of it, or why it is asked to end. Never fails. */
  notify(signal: SessionSignal): void;
}
