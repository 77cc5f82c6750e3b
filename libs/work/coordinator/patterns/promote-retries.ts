import { Injectable } from '@nestjs/common';
import { command } from '#lib/database';
import {
  journaled,
  awaitsRetry,
  type SweepResult,
  taskTransition,
  wakeClaims,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/** Index: agent_tasks_retry_due_idx. $1 rows at most, $2 workspace or NULL. */
const promoteDueRetries = command<{ workspace_id: string }>(
  'promote_due_retries',
  `
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.status = 'ABORTED' AND d.retry_at <= now()
    AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.retry_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
${taskTransition('PENDING', 'due', {
  workspace_id: 'm.workspace_id',
  task_id: 'm.id',
  actor_kind: `'coordinator'`,
  message: `'retry due'`,
})},
${journaled('tasks')}
SELECT workspace_id, status FROM task_moved`,
);

/** Returns aborted tasks to the queue when their retry is due. */
@Injectable()
export class PromoteRetries implements Reconciler {
  static readonly facts = {
    name: 'promote_retries',
    counter: 'retriesPromoted',
    moves: 'tasks whose retry is due: PENDING',
    due: dueAt(`(SELECT t.retry_at FROM agent_tasks t WHERE ${awaitsRetry('t')}
    ORDER BY t.retry_at LIMIT 1)`),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly wakeUps: WakeUps) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const ready = await pass.apply(promoteDueRetries);
    wakeClaims(this.wakeUps, ready);
    return pass.countMoved(ready);
  }
}
