import { Injectable } from '@nestjs/common';
import { ANY_PAUSE_ENDS_RUNS, isEndedByPause } from '#lib/admission';
import { hasDeadline, isLiveRun, type SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { LostRuns } from '../recovery/lost-runs.js';
import { dueAtOnceIf } from './due.sql.js';
import { lostRuns } from './lost-runs.sql.js';

/**
 * Live runs under a pause that ends runs, except those in review, which no agent holds. Indexes:
 * pauses_holding_idx, installation_pauses_holding_idx, then task_runs_live_agent_idx of each
 * workspace. Without such a pause no run is read.
 */
const lockRunsUnderPauses = lostRuns(
  'lock_runs_under_pauses',
  '',
  `${hasDeadline('r')} AND ${isEndedByPause('t')}`,
  'r.workspace_id, r.task_id',
);

/**
 * Ends live runs under a pause that ends runs. Agents and gateways are told to stop their sessions.
 * The tasks return to the queue with their checkpoints, lose no attempt, and start after the pause.
 */
@Injectable()
export class EndPausedRuns implements Reconciler {
  static readonly facts = {
    name: 'end_paused_runs',
    counter: 'pausedRunsEnded',
    moves: 'live runs under a pause that ends runs: ended, their tasks requeued',
    notable: 'Runs were ended by a pause',
    due: {
      ...dueAtOnceIf(`${ANY_PAUSE_ENDS_RUNS} AND EXISTS (SELECT FROM task_runs r
    JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id AND t.run_id = r.id
    WHERE ${isLiveRun('r')} AND ${hasDeadline('r')} AND ${isEndedByPause('t')})`),
      mayBeForbidden: true,
    },
  } as const satisfies ReconcilerFacts;

  constructor(private readonly runs: LostRuns) {}

  sweep(pass: Pass): Promise<SweepResult> {
    return this.runs.release(pass, lockRunsUnderPauses, 'kill_switch');
  }
}
