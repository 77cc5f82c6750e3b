import type { RunState, TaskStatus } from '#lib/transitions';

export type DependencyPolicy = 'block' | 'fail' | 'ignore';

export const DEPENDENCY_POLICIES: readonly DependencyPolicy[] = ['block', 'fail', 'ignore'];

/** One task that another waits for. */
export interface DependencyView {
  /** The task that must complete first. */
  taskId: string;
  policy: DependencyPolicy;
  /** Whether its end has been taken account of, so that it no longer holds the task back. */
  settled: boolean;
}

/** A task as the API shows it. Times are RFC 3339 in UTC. */
export interface TaskView {
  id: string;
  workspaceId: string;
  title: string;
  description: string | null;
  taskType: string;
  status: TaskStatus;
  /** 1 to 10, 10 first. */
  priority: number;
  projectId: string | null;
  milestoneId: string | null;
  /** The agent of the live run, or of the last one. */
  agentId: string | null;
  /** The live run. */
  runId: string | null;
  sessionKey: string | null;
  progressPercent: number;
  currentStep: string | null;
  estimatedDurationMinutes: number | null;
  estimatedCompletionAt: string | null;
  timeoutSeconds: number | null;
  retryCount: number;
  maxRetries: number;
  retryBackoffSeconds: number;
  retryAt: string | null;
  lastError: string | null;
  abortReason: string | null;
  /** What whoever aborted it said: the reason given with a cancellation, or what went wrong. */
  abortMessage: string | null;
  failureReason: string | null;
  /** The tasks that must complete first. */
  dependsOn: string[];
  /** Up to 1,000 of the tasks that wait for this one. */
  blocks: string[];
  /** How many of `dependsOn` still hold it back. */
  unmetDependencies: number;
  /** Only where one task is asked for. */
  dependencies?: DependencyView[];
  requiredCapabilities: string[];
  /** Secrets in it are shown to nobody but the run that holds the task. */
  inputContext: unknown;
  outputResult: unknown;
  summary: string | null;
  checkpointData: unknown;
  metadata: unknown;
  tags: string[];
  /** Who paused it: `user:<id>`. */
  pausedBy: string | null;
  pauseReason: string | null;
  queueExpiresAt: string | null;
  version: number;
  /** How many runs it has had. */
  generation: number;
  createdBy: string | null;
  createdAt: string;
  updatedAt: string;
  readyAt: string | null;
  assignedAt: string | null;
  startedAt: string | null;
  pausedAt: string | null;
  completedAt: string | null;
  failedAt: string | null;
  abortedAt: string | null;
  archivedAt: string | null;
}

/** One attempt of a task by one agent, as the API shows it. */
export interface RunView {
  id: string;
  taskId: string;
  agentId: string;
  /** Counts the runs of the task, from 1. */
  generation: number;
  state: RunState;
  version: number;
  sessionKey: string | null;
  leaseSeconds: number;
  leaseExpiresAt: string;
  /** Whether the heartbeats of its agent carry the lease. */
  leaseByHeartbeat: boolean;
  renewals: number;
  deadlineAt: string | null;
  pauseRequestedAt: string | null;
  branch: string | null;
  reviewUrl: string | null;
  endReason: string | null;
  error: string | null;
  errorClass: string | null;
  exitCode: number | null;
  signal: string | null;
  stackTrace: string | null;
  assignedAt: string;
  startedAt: string | null;
  staleAt: string | null;
  endedAt: string | null;
  lastReportAt: string;
  /** Its last progress or checkpoint. */
  lastProgressAt: string | null;
  /** It seems to hang, and its agent was told. */
  hungWarnedAt: string | null;
}
