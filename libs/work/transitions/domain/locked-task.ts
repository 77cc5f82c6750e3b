import type { RunState } from './run-state.js';
import type { TaskStatus } from './task-state.js';

/** A task under lock with its live run, as a decision needs it. */
export interface LockedTask {
  id: string;
  workspace_id: string;
  status: TaskStatus;
  version: number;
  retry_count: number;
  max_retries: number;
  retry_backoff_seconds: number;
  /** The failed runs of a coding agent since the last one with progress. Null without an `agent`. */
  fruitless_runs: number | null;
  retry_at: Date | null;
  has_dependents: boolean;
  run_id: string | null;
  run_state: RunState | null;
  run_started: boolean | null;
  /** True if the run made progress. */
  run_progressed: boolean | null;
  pause_requested: boolean | null;
  /** Whether the run has a deadline that applies and has passed. */
  past_deadline: boolean | null;
  agent_id: string | null;
  /** Whether it waits for the answer to a question of its last run. */
  waits_for_answer: boolean;
  /** True if a host proves or merges its change, or somebody reviews it. */
  waits_for_review: boolean;
  /** Its change was closed while a host could merge it, and no host has looked yet. */
  may_have_landed?: boolean;
  /** It left the dead letter, because another task does its work. */
  is_replayed?: boolean;
}
