import { programFault } from '#lib/kernel';
import type { AbortReason } from '#lib/transitions/domain';
import type { ExplainFacts } from './explain-facts.js';

type Ended = Pick<
  ExplainFacts['task'],
  'status' | 'failureReason' | 'lastError' | 'retryCount' | 'maxRetries'
>;

/** Why a task failed or was aborted, in words for people. */
const CAUSES: Record<
  | AbortReason
  | 'dependency_failed'
  | 'dependency_cycle'
  | 'question_expired'
  | 'revisions_exhausted',
  string
> = {
  cancelled: 'somebody cancelled it',
  dependency_cancelled: 'it was cancelled together with another task',
  queue_expired: 'it waited longer than it is allowed to',
  agent_stale: 'its agent sent no heartbeat',
  agent_terminated: 'its agent was terminated',
  lease_expired: 'the lease of its run expired',
  timeout: 'its run took too long',
  oom: 'its run needed more memory than it could have',
  disk: 'its run needed more disk space than it could have',
  exit_code: 'its run ended with an error',
  signal: 'its process was killed',
  infrastructure: 'the machine of its run failed',
  setup: 'its command cannot be run',
  stuck: 'its agent made no progress',
  acceptance_failed: 'its result did not pass the acceptance commands',
  refused: 'the model refused its request',
  denied: 'the provider of the model denied access',
  context_full: 'its conversation no longer fits into the context of the model',
  turn_limit: 'its agent reached its limit of turns',
  crash: 'the program of its agent crashed',
  unknown: 'its agent named no cause',
  released: 'its agent released it',
  spawn_failed: 'its session could not be started',
  gateway_restart: 'its gateway restarted',
  budget_exceeded: 'a budget is exhausted',
  secrets_unreadable: 'a secret cannot be decrypted',
  dependency_failed: 'a task that it depends on did not complete',
  dependency_cycle: 'it waits for itself through other tasks',
  question_expired: 'nobody answered its question in time',
  revisions_exhausted: 'its change went back to its agent too often',
};

/** The words for a code. An unknown code keeps its own words. */
export function describeCause(code: string | null): string {
  const known: Partial<Record<string, string>> = CAUSES;
  return known[code ?? 'unknown'] ?? String(code).replaceAll('_', ' ');
}

/** A sentence on the failure of a FAILED task. */
export function describeFailure({ failureReason, retryCount }: Ended): string {
  if (failureReason !== 'retries_exhausted') return `It failed: ${describeCause(failureReason)}.`;
  return retryCount === 0 ? 'It failed.' : `It failed after ${retryCount + 1} attempts.`;
}

/** Failures that no retry follows. */
const HOPELESS: Partial<Record<string, string>> = {
  setup: 'the command cannot be run',
  secrets_unreadable: 'a secret cannot be decrypted',
  refused: 'the model would refuse it again',
  denied: 'the provider of the model would deny access again',
  turn_limit: 'its agent would reach its limit of turns again',
};

/** Ends of FAILED tasks whose retries do not matter. */
const NOT_OF_A_RUN = [
  'retries_exhausted',
  'dependency_failed',
  'dependency_cycle',
  'question_expired',
  'revisions_exhausted',
];

/** Why a FAILED task has unused retries. Undefined without any, or if no run failed. */
export function whyNotRetried(task: Ended): string | undefined {
  const { status, failureReason, lastError, retryCount, maxRetries } = task;
  if (status !== 'FAILED' || failureReason === null || retryCount >= maxRetries) return undefined;
  if (NOT_OF_A_RUN.includes(failureReason)) return undefined;
  const why = HOPELESS[failureReason] ?? programFault(lastError ?? '');
  return `Not retried: ${why ?? 'the agent reported that a retry is pointless'}.`;
}
