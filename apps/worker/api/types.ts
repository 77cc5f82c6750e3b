import type { JsonObject } from '#lib/agent-host';
import type { components } from '#lib/api-client';
import type { SubmitChange } from '../code/types.js';
import type { Reach } from '#lib/kernel';

type Schemas = components['schemas'];

/** A server of the version before can leave some of it out. */
export type Agent = Partial<Schemas['Agent']>;

export type ClaimAnswer = Schemas['Claim'];

export type ClaimedTask = ClaimAnswer['tasks'][number];

/** A server of the version before can leave out the network, or its hosts. */
export type ClaimedRun = Omit<ClaimedTask['run'], keyof Reach> & Partial<Reach>;

/** A server of the version before can leave some of it out. */
export type ClaimedTaskBody = Omit<Partial<Work>, Needed> &
  Pick<Work, Exclude<Needed, 'inputContext'>> & { inputContext: JsonObject };
type Work = Schemas['ClaimedWork'];
type Needed =
  | 'id'
  | 'title'
  | 'taskType'
  | 'priority'
  | 'inputContext'
  | 'retryCount'
  | 'maxRetries';

export const FAILURE_CLASSES = [
  'oom',
  'disk',
  'timeout',
  'exit_code',
  'signal',
  'infrastructure',
  'setup',
  'stuck',
  'acceptance_failed',
  'refused',
  'denied',
  'context_full',
  'turn_limit',
  'crash',
  'unknown',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

export interface RunFailure {
  message: string;
  class: FailureClass;
  exitCode?: number;
  signal?: string;
  stackTrace?: string;
  retryable?: boolean;
}

export const ENTRY_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type EntryLevel = (typeof ENTRY_LEVELS)[number];

export interface LogEntry {
  level: EntryLevel;
  message: string;
  event: string;
  at: string;
  details?: JsonObject;
}

export type ProgressReport = Schemas['ReportProgress'];

export type UsageReport = Schemas['UsageReport'];

export interface UsageAnswer {
  /** `stop`: a budget is used up. The signal to stop comes separately. */
  advice: Schemas['UsageOutcome']['advice'];
  /** The budgets that cover the run. The budget with the smallest remaining share comes first. */
  budgets: Pick<Schemas['BudgetStanding'], 'scope' | 'allocated' | 'percentUsed'>[];
}

/** The way to a provider of models, with its key. */
export type ModelAccess = Schemas['ModelAccess'];

/** The start of a session, as its host knows it. */
export type RunPrompt = Schemas['CreateRunPrompt'];
/** Servers of the version before send the prompt and less of the rest. */
export type FirstWords = Pick<Schemas['FirstWords'], 'prompt'> &
  Partial<Pick<Schemas['FirstWords'], 'instructions' | 'mcpServers' | 'attachments'>>;

/** A file that people attached to a task. */
export interface AttachedFile {
  name: string;
  mediaType: string;
  content: Buffer;
}

export type ModelHold = Schemas['ModelHold'];

/** The limit of a provider that has refused a run. Model and time are optional. */
export type ProviderLimit = Omit<Schemas['ReportProviderLimit'], 'checkpointData' | 'runId'>;

/** A question to people. It ends its run, unless the run waits for the answer. */
export type Question = Omit<Schemas['AskQuestion'], 'checkpointData'>;

export type ReleaseReason =
  | 'drain'
  | 'paused'
  | 'unstarted'
  | 'budget_used_up'
  | 'provider_limited'
  | 'disk_full';

/** The report of a run's end to the server. */
export type FinalReport =
  | { kind: 'complete'; outputResult?: JsonObject; summary?: string }
  | ({ kind: 'submit' } & SubmitChange)
  | { kind: 'fail'; error: RunFailure; checkpointData?: JsonObject }
  | { kind: 'release'; reason: ReleaseReason; checkpointData?: JsonObject }
  | { kind: 'provider-limits'; limit: ProviderLimit; checkpointData?: JsonObject }
  | { kind: 'questions'; question: Question; checkpointData?: JsonObject };

export type RunSignal = Schemas['RunSignal'];

/** A message to a run, or the answer to a question for which it waits. */
export type RunMessage = Schemas['RunMessage'];

/** The last message that this worker has of a run. */
export type Heard = NonNullable<Schemas['AgentSignalsRequest']['heard']>[number];

export type Registration = Schemas['RegisterAgent'];

export type Heartbeat = Schemas['HeartbeatRequest'];

/** A live run of this agent, according to the server. */
export interface LiveTask {
  taskId: string;
  runId: string;
  started: boolean;
}

/** The server's signals for the agent and its runs. */
export type Signals = Schemas['AgentSignals'];
