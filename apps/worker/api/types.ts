import type { JsonObject } from '#lib/agent-host';

export interface ClaimAnswer {
  tasks: ClaimedTask[];
  /** Why there is none: `nothing_ready`, `agent_full`, `agent_in_error`, `paused` and the like. */
  reason?: string;
}

export interface ClaimedTask {
  run: {
    id: string;
    generation: number;
    leaseExpiresAt: string;
    token: string;
    /** What it is to use, if somebody has chosen. */
    model?: string | null;
    modelTier?: string | null;
    /** Of its span, if it is traced. */
    traceparent?: string | null;
  };
  task: ClaimedTaskBody;
}

export interface ClaimedTaskBody {
  id: string;
  title: string;
  description?: string | null;
  taskType: string;
  priority: number;
  inputContext: JsonObject;
  checkpointData?: JsonObject | null;
  /** To its questions; a server that knows no questions sends none. */
  answers?: JsonObject[];
  metadata?: JsonObject | null;
  /** Variables for the environment of the work. */
  secrets?: Record<string, string>;
  timeoutSeconds?: number | null;
  retryCount: number;
  maxRetries: number;
  tags?: string[];
  requiredCapabilities?: string[];
}

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

export interface ProgressReport {
  progressPercent?: number;
  currentStep?: string;
  checkpointData?: JsonObject;
}

/** What a model was used for. Tokens are whole numbers, as text or not. */
export interface UsageReport {
  id: string;
  model: string;
  operation?: string;
  inputTokens: string | number;
  outputTokens: string | number;
  cacheReadTokens?: string | number;
  cacheWriteTokens?: string | number;
  /** In USD, by the reporter's own reckoning. */
  costUsd?: string | number;
}

export interface UsageAnswer {
  /** `stop`: a budget is used up; the signal for it comes by itself. */
  advice: 'continue' | 'warn' | 'stop';
  /** Those that cover the run, the one with least left of its whole first. */
  budgets: { scope: string; allocated: string; percentUsed: number }[];
}

/** A provider that has refused a run. Neither a model nor a time has to be named. */
export interface ProviderLimit {
  provider?: string;
  /** Absent: the one that the run was given. */
  model?: string;
  allModels?: boolean;
  kind?: 'rate_limited' | 'quota_exhausted';
  retryAfterSeconds?: number;
  until?: string;
  message?: string;
}

/** A question to people, with which a run ends. */
export interface Question {
  prompt: string;
  choices?: string[];
  freeText?: boolean;
  deadlineSeconds?: number;
  deadlineAt?: string;
  onDeadline: 'default' | 'fail';
  default?: string;
}

export type ReleaseReason = 'drain' | 'paused' | 'unstarted' | 'provider_limited';

/** How a run ends, as the server is told. */
export type FinalReport =
  | { kind: 'complete'; outputResult?: JsonObject; summary?: string }
  | { kind: 'fail'; error: RunFailure; checkpointData?: JsonObject }
  | { kind: 'release'; reason: ReleaseReason; checkpointData?: JsonObject }
  | { kind: 'provider-limits'; limit: ProviderLimit; checkpointData?: JsonObject }
  | { kind: 'questions'; question: Question; checkpointData?: JsonObject };

export interface RunSignal {
  runId: string;
  /** `warn`: the run goes on, but the server will end it unless progress or a checkpoint is reported. */
  action: 'stop' | 'pause' | 'warn';
  reason: string;
  graceSeconds: number;
}

export interface Registration {
  name: string;
  mode: 'pull';
  capabilities: string[];
  dedicatedTo: string[];
  maxConcurrentTasks: number;
  heartbeatIntervalSeconds: number;
  staleThresholdSeconds: number;
  hostName: string;
  pid: number;
  agentVersion: string;
  restartCount: number;
  /** Of this life of the worker, and of the one before it on this machine. */
  bootId: string;
  previousBootId?: string;
}

export interface Heartbeat {
  status: 'healthy' | 'degraded';
  currentTaskId?: string;
  progressPercent?: number;
  currentStep?: string;
  memoryMb: number;
  cpuPercent: number;
  metadata: JsonObject;
}

/** A task that the server thinks this agent works on. */
export interface LiveTask {
  taskId: string;
  runId: string;
  started: boolean;
}

/** The server's signals for the agent and its runs. */
export interface Signals {
  drain: boolean;
  runs: RunSignal[];
}
