import type { Fence } from '#lib/database';
import type { Swept } from '#lib/task-manager';

export const STEP_NAMES = [
  'expire_leases',
  'reap_stale_agents',
  'recover_lost_runs',
  'watch_liveness',
  'promote_retries',
  'settle_dependents',
  'time_out_runs',
  'expire_queued',
  'terminate_drained',
  'assign',
] as const;

export type StepName = (typeof STEP_NAMES)[number];

/** One duty of the cycle. A sweep is a few short transactions, each behind the fence. */
export interface Step {
  readonly name: StepName;
  /** @param limit rows that one sweep moves at most */
  sweep(fence: Fence, limit: number): Promise<Swept>;
}
