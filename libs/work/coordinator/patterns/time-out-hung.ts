import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { waitsOrHasWaited } from '#lib/questions';
import { isAtWork, type SweepResult } from '#lib/transitions';
import { LostRuns } from '../recovery/lost-runs.js';
import { lostRuns } from './lost-runs.sql.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

/**
 * Runs without progress since their agent was warned, $3 seconds ago or more. The time in which
 * they waited for a person does not count. Indexes: task_runs_hung_idx, questions_task_idx.
 */
const lockHungRuns = lostRuns(
  'lock_hung_runs',
  '',
  `r.hung_warned_at <= now() - make_interval(secs => $3::float8) AND ${isAtWork('r')}
    AND t.status = 'RUNNING' AND NOT ${waitsOrHasWaited('r', '$3')}`,
  'r.hung_warned_at',
);

/**
 * Ends runs without progress after their warning. Their tasks are retried at their own priority: a
 * task that always hangs must not overtake others.
 */
@Injectable()
export class TimeOutHung implements Reconciler {
  static readonly facts = {
    name: 'time_out_hung',
    counter: 'hungAborted',
    moves: 'those without progress `HUNG_ABORT_AFTER_SECONDS` (10 min) after that: ended',
    notable: 'Runs were ended because they made no progress after a warning',
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly runs: LostRuns,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  sweep(pass: Pass): Promise<SweepResult> {
    const seconds = this.config.tasks.hungAbortAfterSeconds;
    return this.runs.end(pass, {
      lock: lockHungRuns,
      params: [seconds],
      reason: 'timeout',
      message: `It was past its estimate, and made no progress within ${seconds} s of a warning`,
    });
  }
}
