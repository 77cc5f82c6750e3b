import { assertNever } from '#lib/kernel';
import type { JsonObject, StopCause } from '#lib/agent-host';
import type { FinalReport, ReleaseReason, RunFailure } from '../api/types.js';
import type { Outcome } from '../execution/job.js';

/** The reason why the worker ended a run before the run ended itself. */
export type RunStopKind = Extract<
  StopCause['kind'],
  'timeout' | 'pause' | 'drain' | 'budget' | 'provider_limited' | 'question'
>;

export interface RunEnd {
  outcome: Outcome;
  cause: RunStopKind | undefined;
  timeoutSeconds: number | null | undefined;
  /** The checkpoint that the server does not have yet. */
  checkpoint: JsonObject | undefined;
}

/**
 * The report of a run's end.
 *
 * A process that was stopped for a pause or a drain has completed its task only if it left a
 * result: a well-behaved program also ends with exit code 0 when it is asked to end.
 */
export function decideFinalReport({
  outcome,
  cause,
  timeoutSeconds,
  checkpoint,
}: RunEnd): FinalReport {
  const checkpointData = checkpoint === undefined ? {} : { checkpointData: checkpoint };
  if (cause === 'timeout') {
    return { kind: 'fail', error: timedOut(outcome, timeoutSeconds ?? 0), ...checkpointData };
  }
  if (outcome.kind === 'refused') {
    return { kind: 'provider-limits', limit: outcome.limit, ...checkpointData };
  }
  if (outcome.kind === 'asked' && cause !== 'pause') {
    return { kind: 'questions', question: outcome.question, ...checkpointData };
  }
  const finished = outcome.kind === 'succeeded' && outcome.result !== undefined;
  if (cause !== undefined && !finished) {
    const reason = REASONS[cause] ?? 'paused';
    return { kind: 'release', reason, ...checkpointData };
  }
  switch (outcome.kind) {
    case 'succeeded':
      if (outcome.change !== undefined) return { kind: 'submit', ...outcome.change };
      return { kind: 'complete', outputResult: outcome.result, summary: outcome.summary };
    case 'failed':
      return { kind: 'fail', error: outcome.error, ...checkpointData };
    case 'displaced':
      return { kind: 'release', reason: 'disk_full', ...checkpointData };
    case 'paused':
      return { kind: 'release', reason: 'paused', ...checkpointData };
    case 'asked':
      // The task was paused meanwhile. The agent asks again when the task is resumed.
      return { kind: 'release', reason: 'paused', ...checkpointData };
    default:
      return assertNever(outcome);
  }
}

const REASONS: Partial<Record<RunStopKind, ReleaseReason>> = {
  drain: 'drain',
  budget: 'budget_used_up',
};

function timedOut(outcome: Outcome, timeoutSeconds: number): RunFailure {
  const evidence = outcome.kind === 'failed' ? outcome.error : undefined;
  return {
    message: `Exceeded its timeout of ${timeoutSeconds} s and was ended`,
    class: 'timeout',
    exitCode: evidence?.exitCode,
    signal: evidence?.signal,
    stackTrace: evidence?.stackTrace,
    retryable: true,
  };
}
