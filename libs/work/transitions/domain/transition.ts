import type { Actor } from '#lib/kernel';
import type { RunState } from './run-state.js';
import type { AbortReason, PausedFor, TaskStatus } from './task-state.js';

/** A decided transition of one task, and of its live run if that ends or changes with it. */
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
  /** ABORTED: seconds until the retry. Absent means no retry. */
  retryAfterSeconds?: number;
  countsAsRetry?: boolean;
  resetsRetries?: boolean;
  lastError?: string;
  outputResult?: unknown;
  summary?: string;
  checkpointData?: unknown;
  /** The answers to questions for its next run. */
  answers?: unknown;
  keepsRun?: boolean;
  /** PAUSED: its cause. */
  pausedFor?: PausedFor;
  /** The budget or the provider limit of the pause. */
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
