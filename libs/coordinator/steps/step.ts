import type { Fence } from '#lib/database';
import type { SweepScope, Swept } from '#lib/transitions';

export const STEP_NAMES = [
  'expire_leases',
  'reap_stale_agents',
  'recover_lost_runs',
  'watch_liveness',
  'recover_orphans',
  'reconcile_states',
  'promote_retries',
  'fail_cycles',
  'settle_dependents',
  'time_out_runs',
  'warn_hung',
  'time_out_hung',
  'detect_split_brain',
  'expire_queued',
  'terminate_drained',
  'clear_pauses',
  'assign',
] as const;

export type StepName = (typeof STEP_NAMES)[number];

/** One duty of the cycle. A sweep is a few short transactions, each behind the fence. */
export interface Step {
  readonly name: StepName;
  /** It has all workspaces in view at once, so a pass over one of them leaves it out. */
  readonly acrossWorkspaces?: true;
  /** @param limit rows that one sweep moves at most */
  sweep(fence: Fence, limit: number, scope: SweepScope): Promise<Swept>;
}
