import type { JsonObject } from '#lib/agent-host';
import type { components } from '#lib/api-client';

type Schemas = components['schemas'];

export type ClaimAnswer = Schemas['ClaimDoc'];

export type ClaimedTask = ClaimAnswer['tasks'][number];

/** A server of the version before may leave some of it out. */
export type ClaimedTaskBody = Omit<Partial<Work>, Needed> &
  Pick<Work, Exclude<Needed, 'inputContext'>> & { inputContext: JsonObject };
type Work = Schemas['ClaimedWorkDto'];
type Needed =
  'id' | 'title' | 'taskType' | 'priority' | 'inputContext' | 'retryCount' | 'maxRetries';

export const FAILURE_CLASSES = [
  'oom',
  'timeout',
  'exit_code',
  'signal',
  'infrastructure',
  'setup',
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

export type ProgressReport = Schemas['ProgressDto'];

export type UsageReport = Schemas['UsageReportDto'];

export interface UsageAnswer {
  /** `stop`: a budget is used up; the signal for it comes by itself. */
  advice: Schemas['UsageOutcomeDto']['advice'];
  /** Those that cover the run, the one with least left of its whole first. */
  budgets: Pick<Schemas['BudgetStandingDoc'], 'scope' | 'allocated' | 'percentUsed'>[];
}

/** A provider that has refused a run. Neither a model nor a time has to be named. */
export type ProviderLimit = Omit<Schemas['ProviderLimitReportDto'], 'checkpointData' | 'runId'>;

/** A question to people, with which a run ends. */
export type Question = Omit<Schemas['AskDto'], 'checkpointData'>;

export type ReleaseReason = 'drain' | 'paused' | 'unstarted' | 'provider_limited';

/** How a run ends, as the server is told. */
export type FinalReport =
  | { kind: 'complete'; outputResult?: JsonObject; summary?: string }
  | { kind: 'fail'; error: RunFailure; checkpointData?: JsonObject }
  | { kind: 'release'; reason: ReleaseReason; checkpointData?: JsonObject }
  | { kind: 'provider-limits'; limit: ProviderLimit; checkpointData?: JsonObject }
  | { kind: 'questions'; question: Question; checkpointData?: JsonObject };

export type RunSignal = Schemas['RunSignalDto'];

export type Registration = Schemas['RegisterAgentDto'];

export type Heartbeat = Schemas['HeartbeatDto'];

/** A task that the server thinks this agent works on. */
export interface LiveTask {
  taskId: string;
  runId: string;
  started: boolean;
}

/** The server's signals for the agent and its runs. */
export type Signals = Schemas['SignalsAnswerDto'];
