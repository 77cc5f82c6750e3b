import type { Transaction } from '#lib/database';
import type { Actor } from '#lib/kernel';
import { instruments } from '#lib/observability';
import type { Transition, RunTransition } from '../domain/transition.js';
import type { FailurePlan } from '../domain/failure-handling.js';
import type { ReleasePlan } from '../domain/release.js';
import { applyAndDetach, applyTransitionsSql, type AppliedRow } from './apply-transitions.sql.js';

/** Writes transitions of tasks and runs in the transaction that holds the tasks' locks. */
export async function applyTransitions(
  tx: Transaction,
  transitions: readonly Transition[],
): Promise<AppliedRow[]> {
  return applyWith(tx, transitions, []);
}

/**
 * @param detached runs that PAUSED tasks lose
 */
async function applyWith(
  tx: Transaction,
  transitions: readonly Transition[],
  detached: readonly DetachPlan[],
): Promise<AppliedRow[]> {
  if (transitions.length === 0 && detached.length === 0) return [];
  const runs = [
    ...transitions.flatMap(({ workspaceId, run, actor }) =>
      run ? [runTransitionRow(workspaceId, run, endedBy(actor))] : [],
    ),
    ...detached.map(({ workspaceId, run, actor }) =>
      runTransitionRow(workspaceId, run, endedBy(actor)),
    ),
  ];
  const rows = [JSON.stringify(transitions.map(taskTransitionRow)), JSON.stringify(runs)];
  const applied =
    detached.length === 0
      ? await tx.rows(applyTransitionsSql, rows)
      : await tx.rows(applyAndDetach, [...rows, detached.map(({ run }) => run.runId)]);
  for (const { to, reason } of transitions) {
    if (to === 'FAILED') instruments.tasksFailed.inc({ reason: reason ?? 'unknown' });
  }
  return applied;
}

type Plan = FailurePlan | ReleasePlan;
type DetachPlan = Extract<Plan, { kind: 'detach' }>;

/**
 * Applies plans about locked tasks: first transitions together with the detached runs of paused
 * tasks, then second transitions, which end no run.
 *
 * @returns the moved rows, the second transition of a task after its first
 */
export async function applyPlans(tx: Transaction, plans: readonly Plan[]): Promise<AppliedRow[]> {
  const detached = plans.filter((plan) => plan.kind === 'detach');
  const first = plans.flatMap((plan) => {
    if (plan.kind === 'detach') return [];
    return [plan.kind === 'transition' ? plan.transition : plan.first];
  });
  const second = plans.flatMap((plan) =>
    plan.kind === 'transitions' && plan.second ? [plan.second] : [],
  );
  const moved = [
    ...(await applyWith(tx, first, detached)),
    ...(await applyTransitions(tx, second)),
  ];
  countRecoveries(plans);
  return moved;
}

function countRecoveries(plans: readonly Plan[]): void {
  for (const plan of plans) {
    const run =
      plan.kind === 'detach' ? plan.run : plan.kind === 'transition' ? undefined : plan.first.run;
    if (run?.to === 'FAILED') instruments.recoveries.inc({ reason: run.endReason ?? 'unknown' });
  }
}

function taskTransitionRow(transition: Transition): Record<string, unknown> {
  return {
    workspace_id: transition.workspaceId,
    task_id: transition.taskId,
    to_status: transition.to,
    actor_kind: transition.actor.kind,
    actor_id: transition.actor.id,
    reason: transition.reason,
    message: transition.message,
    level: transition.level,
    details: transition.details,
    stack_trace: transition.stackTrace,
    session_key: transition.sessionKey,
    retry_after_seconds: transition.retryAfterSeconds,
    counts_as_retry: transition.countsAsRetry,
    resets_retries: transition.resetsRetries,
    last_error: transition.lastError,
    output_result: transition.outputResult,
    summary: transition.summary,
    checkpoint_data: transition.checkpointData,
    answers: transition.answers,
    keeps_run: transition.keepsRun,
    paused_for: transition.pausedFor,
    paused_for_id: transition.pausedForId,
  };
}

/** The word for what ended a run: see task_runs.ended_by. */
function endedBy({ kind, id }: Actor): string {
  if (kind === 'agent' || kind === 'run') return 'agent';
  if (id?.startsWith('gateway:')) return 'gateway';
  return kind === 'user' || kind === 'api_key' || kind === 'hook' ? 'user' : 'coordinator';
}

function runTransitionRow(
  workspaceId: string,
  run: RunTransition,
  by: string,
): Record<string, unknown> {
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
