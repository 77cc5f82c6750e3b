import type { Transaction } from '#lib/database';
import type { Move, RunMove } from '../domain/move.js';
import { applyMovesSql, type AppliedRow } from './apply-moves.sql.js';

/** Moves tasks and runs through their doors, in the transaction that holds the tasks' locks. */
export function applyMoves(tx: Transaction, moves: readonly Move[]): Promise<AppliedRow[]> {
  if (moves.length === 0) return Promise.resolve([]);
  return tx.rows(applyMovesSql, [
    JSON.stringify(moves.map(taskMoveRow)),
    JSON.stringify(
      moves.flatMap((move) => (move.run ? [runMoveRow(move.workspaceId, move.run)] : [])),
    ),
  ]);
}

function taskMoveRow(move: Move): Record<string, unknown> {
  return {
    workspace_id: move.workspaceId,
    task_id: move.taskId,
    to_status: move.to,
    actor_kind: move.actor.kind,
    actor_id: move.actor.id,
    reason: move.reason,
    message: move.message,
    level: move.level,
    details: move.details,
    stack_trace: move.stackTrace,
    session_key: move.sessionKey,
    retry_after_seconds: move.retryAfterSeconds,
    counts_as_retry: move.countsAsRetry,
    resets_retries: move.resetsRetries,
    last_error: move.lastError,
    output_result: move.outputResult,
    summary: move.summary,
    checkpoint_data: move.checkpointData,
    keeps_run: move.keepsRun,
  };
}

function runMoveRow(workspaceId: string, run: RunMove): Record<string, unknown> {
  return {
    workspace_id: workspaceId,
    run_id: run.runId,
    to_state: run.to,
    end_reason: run.endReason,
    error: run.error,
    error_class: run.errorClass,
    exit_code: run.exitCode,
    signal: run.signal,
    stack_trace: run.stackTrace,
  };
}
