import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { command } from '#lib/database';
import { waitsOrHasWaited } from '#lib/questions';
import { isAtWork, journalRow, type SweepResult } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

/**
 * Warns runs that exceed their task's estimate by $3 seconds, and made no progress for as long:
 * marks them, with the journal row. Paused tasks and tasks that have not begun do not hang, nor do
 * runs that wait for a person.
 *
 * Index: agent_tasks_estimate_idx, then primary keys, questions_task_idx. $1 rows, $2 workspace or
 * NULL, $3 seconds, $4 seconds until the run is aborted.
 */
const warnHungRuns = command<{ workspace_id: string; run_id: string; agent_id: string }>(
  'warn_hung_runs',
  `
WITH hung AS MATERIALIZED (
  SELECT t.workspace_id, t.id AS task_id, r.id AS run_id, r.agent_id, t.session_key,
    t.estimated_completion_at,
    r.last_progress_at
  FROM agent_tasks t
  JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
  WHERE t.status = 'RUNNING'
    AND t.estimated_completion_at <= now() - make_interval(secs => $3::float8)
    AND ${isAtWork('r')} AND r.hung_warned_at IS NULL
    AND coalesce(r.last_progress_at, r.started_at) <= now() - make_interval(secs => $3::float8)
    AND NOT ${waitsOrHasWaited('r', '$3')}
    AND ($2::uuid IS NULL OR t.workspace_id = $2)
  ORDER BY t.estimated_completion_at
  LIMIT $1
  -- Locks the run too, so that progress reported meanwhile counts.
  FOR NO KEY UPDATE OF t, r SKIP LOCKED
),
warned AS (
  UPDATE task_runs r SET hung_warned_at = now() FROM hung h
  WHERE r.workspace_id = h.workspace_id AND r.id = h.run_id
),
journaled AS (
  ${journalRow(
    {
      workspace_id: 'workspace_id',
      event: "'run.hung_warning'",
      log_event: "'hung_warning'",
      task_id: 'task_id',
      run_id: 'run_id',
      agent_id: 'agent_id',
      level: "'WARN'",
      message: "'Run warned: it is long past its estimate, and is aborted without progress'",
      details: `jsonb_build_object('estimatedCompletionAt', estimated_completion_at,
        'lastProgressAt', last_progress_at, 'abortsAfterSeconds', $4::int)`,
      actor_kind: "'coordinator'",
      session_key: 'session_key',
    },
    'hung',
  )}
)
SELECT workspace_id, run_id, agent_id FROM hung`,
);

/**
 * Warns the agents of runs that seem to hang: long past their estimate, and without progress.
 * Progress or a checkpoint clears the warning. Otherwise time_out_hung ends the run.
 */
@Injectable()
export class WarnHung implements Reconciler {
  static readonly facts = {
    name: 'warn_hung',
    counter: 'hungWarned',
    moves: 'runs `HUNG_AFTER_SECONDS` (30 min) past their estimate without progress: warned',
    notable: 'Runs are long past their estimate without progress; their agents were warned',
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const { hungAfterSeconds, hungAbortAfterSeconds } = this.config.tasks;
    const warned = await pass.apply(warnHungRuns, hungAfterSeconds, hungAbortAfterSeconds);
    this.wakeUps.signals([...new Set(warned.map((run) => run.agent_id))]);
    return pass.countMoved(warned);
  }
}
