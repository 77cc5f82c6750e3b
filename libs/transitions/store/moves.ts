import type { Transaction } from '#lib/database';
import type { Actor } from '#lib/kernel';
import { instruments } from '#lib/observability';
import type { Move, RunMove } from '../domain/move.js';
import type { RecoveryPlan } from '../domain/recover.js';
import type { ReleasePlan } from '../domain/release.js';
import { applyMovesSql, type AppliedRow } from './apply-moves.sql.js';
import { letGoOfRuns } from './let-go-of-runs.sql.js';

/** Writes transitions of tasks and runs, in the transaction that holds the tasks' locks. */
export function applyMoves(tx: Transaction, moves: readonly Move[]): Promise<AppliedRow[]> {
  if (moves.length === 0) return Promise.resolve([]);
  return tx.rows(applyMovesSql, [
    JSON.stringify(moves.map(taskMoveRow)),
    JSON.stringify(
      moves.flatMap((move) =>
        move.run ? [runMoveRow(move.workspaceId, move.run, endedBy(move.actor))] : [],
      ),
    ),
  ]);
}

/**
 * Applies plans about tasks under lock: first moves, second moves, and the runs that paused tasks let go.
 *
 * @returns the rows moved, the second move of a task after its first
 */
export async function applyPlans(
  tx: Transaction,
  plans: readonly (RecoveryPlan | ReleasePlan)[],
): Promise<AppliedRow[]> {
  const letGo = plans.flatMap((plan) =>
    plan.kind === 'let_go' ? [runMoveRow(plan.workspaceId, plan.run)] : [],
  );
  if (letGo.length > 0) await tx.rows(letGoOfRuns, [JSON.stringify(letGo)]);
  const first = plans.flatMap((plan) => {
    if (plan.kind === 'let_go') return [];
    return [plan.kind === 'move' ? plan.move : plan.first];
  });
  const second = plans.flatMap((plan) => (plan.kind === 'moves' && plan.then ? [plan.then] : []));
  const moved = [...(await applyMoves(tx, first)), ...(await applyMoves(tx, second))];
  countRecoveries(plans);
  return moved;
}

function countRecoveries(plans: readonly (RecoveryPlan | ReleasePlan)[]): void {
  for (const plan of plans) {
    const run =
      plan.kind === 'let_go' ? plan.run : plan.kind === 'move' ? undefined : plan.first.run;
    if (run?.to === 'FAILED') instruments.recoveries.inc({ reason: run.endReason ?? 'unknown' });
  }
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

/** In one word, what ended a run: see task_runs.ended_by. */
function endedBy({ kind, id }: Actor): string {
  if (kind === 'agent' || kind === 'run') return 'agent';
  if (id?.startsWith('gateway:')) return 'gateway';
  return kind === 'user' || kind === 'api_key' ? 'user' : 'coordinator';
}

function runMoveRow(workspaceId: string, run: RunMove, by?: string): Record<string, unknown> {
  return {
    workspace_id: workspaceId,
    run_id: run.runId,
    to_state: run.to,
    end_reason: run.endReason,
    ended_by: by,
    error: run.error,
    error_class: run.errorClass,
    exit_code: run.exitCode,
    signal: run.signal,
    stack_trace: run.stackTrace,
  };
}
