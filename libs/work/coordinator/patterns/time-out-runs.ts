import { Injectable } from '@nestjs/common';
import { DEADLINE_GRACE, hasDeadline, isOverdue, type SweepResult } from '#lib/transitions';
import { LostRuns } from '../recovery/lost-runs.js';
import { lostRuns } from './lost-runs.sql.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/** Index: task_runs_deadline_idx. */
const lockOverdueRuns = lostRuns('lock_overdue_runs', '', isOverdue('r'), 'r.deadline_at');

/** Ends runs that exceed their task's timeout and that their agent has not ended itself. */
@Injectable()
export class TimeOutRuns implements Reconciler {
  static readonly facts = {
    name: 'time_out_runs',
    counter: 'timedOutRuns',
    moves: "runs a minute past their task's timeout, for which their agent should have cared",
    notable: 'Runs were ended because they were past their timeout',
    due: dueAt(`(SELECT r.deadline_at + ${DEADLINE_GRACE} FROM task_runs r
    WHERE r.deadline_at IS NOT NULL AND ${hasDeadline('r')} ORDER BY r.deadline_at LIMIT 1)`),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly runs: LostRuns) {}

  sweep(pass: Pass): Promise<SweepResult> {
    return this.runs.end(pass, {
      lock: lockOverdueRuns,
      reason: 'timeout',
      message: 'It ran longer than its timeout',
    });
  }
}
