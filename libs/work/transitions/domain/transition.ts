import type { Actor } from '#lib/kernel';
import type { RunState } from './run-state.js';
import type { AbortReason, PausedFor, TaskStatus } from './task-state.js';

/** A decided transition of one task, and of its live run where that ends or changes with it. */
export interface Transition {
  workspaceId: string;
  taskId: string;
  to: TaskStatus;
  actor: Actor;
  reason?: AbortReason | string;
  message?: string;
  level?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'CRITICAL';
  details?: Record<string, unknown>;
  stackTrace?: string;
  sessionKey?: string;
  /** ABORTED: seconds until the retry; absent means that none follows. */
  retryAfterSeconds?: number;
  countsAsRetry?: boolean;
  resetsRetries?: boolean;
  lastError?: string;
  outputResult?: unknown;
  summary?: string;
  checkpointData?: unknown;
  /** What its next run receives as answers to its questions. */
  answers?: unknown;
  keepsRun?: boolean;
  /** PAUSED: what for. */
  pausedFor?: PausedFor;
  /** The budget or the provider limit that it is paused for. */
  pausedForId?: string;
  run?: RunTransition;
}

export interface RunTransition {
  runId: string;
  to: RunState;
  endReason?: string;
  error?: string;
  errorClass?: string;
  exitCode?: number;
  signal?: string;
  stackTrace?: string;
}
