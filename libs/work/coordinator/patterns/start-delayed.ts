import { Injectable } from '@nestjs/common';
import { command } from '#lib/database';
import { isReady, logLine, type SweepResult, wakeClaims } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

const WAITS = (t: string) => `${t}.waits_for_start AND ${t}.status IN ('PENDING', 'PAUSED')`;

/** Index: agent_tasks_start_idx. $1 rows at most, $2 workspace or NULL. */
const startDelayedTasks = command<{ workspace_id: string; ready: boolean }>(
  'start_delayed_tasks',
  `
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE ${WAITS('d')} AND d.start_at <= now() AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.start_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
started AS (
  UPDATE agent_tasks t SET waits_for_start = false, unmet_dependencies = t.unmet_dependencies - 1,
    ready_at = CASE WHEN t.unmet_dependencies = 1 THEN now() END
  FROM due d WHERE t.workspace_id = d.workspace_id AND t.id = d.id
  RETURNING t.workspace_id, t.id, ${isReady('t')} AS ready
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      event: "'start_reached'",
      message: "'Its start has come'",
      actor_kind: "'coordinator'",
    },
    'started',
  )}
)
SELECT workspace_id, ready FROM started`,
);

/** Lets tasks start whose start has come. */
@Injectable()
export class StartDelayed implements Reconciler {
  static readonly facts = {
    name: 'start_delayed',
    counter: 'delayedStarted',
    moves: 'tasks whose start has come',
    due: dueAt(
      `(SELECT t.start_at FROM agent_tasks t WHERE ${WAITS('t')} ORDER BY t.start_at LIMIT 1)`,
    ),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly wakeUps: WakeUps) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const started = await pass.apply(startDelayedTasks);
    wakeClaims(
      this.wakeUps,
      started.filter(({ ready }) => ready),
    );
    return pass.countMoved(started);
  }
}
