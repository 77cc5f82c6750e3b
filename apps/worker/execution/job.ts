import type { HostCredential, Reach } from '#lib/kernel';
import type { KeptLine } from '#lib/session-runtime';
import type { JsonObject, Running } from '#lib/agent-host';
import type {
  ClaimedRun,
  ClaimedTaskBody,
  EntryLevel,
  FirstWords,
  ProgressReport,
  ProviderLimit,
  Question,
  RunFailure,
  RunMessage,
  RunPrompt,
} from '../api/types.js';
import type { SubmitChange } from '../code/types.js';
import type { RunFolder } from '../runs/run-folder.js';
import type { UsageLine } from './usage-line.js';

/** The network that workspace and project allow the run. */
export function reachOfRun({ network = 'none', allowedHosts = [] }: ClaimedRun): Reach {
  return { network, allowedHosts };
}

/** One execution of a task. */
export interface Job {
  /** The run's token is a credential for this run's own reports, and for nothing else. */
  run: ClaimedRun;
  task: ClaimedTaskBody;
  apiUrl: string;
  folder: RunFolder;
  report: JobReports;
}

/** A line for the log. A KeptLine is made readable only if it stays in the log. */
export type LogLine = string | KeptLine;

/** The reports of a running job. None of these fails or waits, except those with an answer. */
export interface JobReports {
  /** The line and its details are redacted already. The receiver limits the amount. */
  log(level: EntryLevel, line: LogLine, event: string, details?: JsonObject): void;
  progress(report: ProgressReport): void;
  /** Waits until the server has this progress. Fails if the server refuses it, or the run is lost. */
  saveProgress(report: ProgressReport): Promise<void>;
  usage(reports: readonly UsageLine[]): void;
  /**
   * The job must end: the provider of its model or a budget has refused it, or it has asked people a
   * question.
   */
  endEarly(kind: 'budget' | 'provider_limited' | 'question'): void;
  /** The program has received the messages at these positions. */
  delivered(positions: readonly number[]): void;
  /** Asks people while the job continues. The answer arrives as a message. */
  ask(question: Question): Promise<{ id: string }>;
  cancelQuestion(): Promise<unknown>;
  /** The first words to the agent of the task. The server makes and keeps them. */
  prompt(start: RunPrompt): Promise<FirstWords>;
  /** The headers that the proxy of the session adds. The session must not get them. */
  credentials(): Promise<HostCredential[]>;
}

/** A running job. One that hears gets the messages to its run, in their order. */
export interface RunningJob extends Running<Outcome> {
  hear?(message: RunMessage): void;
  /** The job ends after its current turn, with the outcome `paused`, if that is wanted. */
  pauseAfterTurn?(isWanted: boolean): void;
}

export type Outcome =
  /** With a change, the run submits it. */
  | { kind: 'succeeded'; result?: JsonObject; summary?: string; change?: SubmitChange }
  | { kind: 'failed'; error: RunFailure }
  | { kind: 'refused'; limit: ProviderLimit }
  | { kind: 'asked'; question: Question }
  /** The disk of this machine is full, and another worker can run the task. */
  | { kind: 'displaced' }
  /** It ended after a turn, because its task is paused. */
  | { kind: 'paused' };
