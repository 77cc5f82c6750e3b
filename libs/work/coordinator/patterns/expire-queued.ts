import { Injectable } from '@nestjs/common';
import { command } from '#lib/database';
import { journaled, type SweepResult, taskTransition } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/** Index: agent_tasks_queue_expiry_idx. $1 rows at most, $2 workspace or NULL. */
const abortExpiredInQueue = command<{ workspace_id: string }>(
  'abort_expired_in_queue',
  `
WITH due AS MATERIALIZED (
  SELECT d.workspace_id, d.id FROM agent_tasks d
  WHERE d.status = 'PENDING' AND d.queue_expires_at <= now()
    AND ($2::uuid IS NULL OR d.workspace_id = $2)
  ORDER BY d.queue_expires_at
  LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
),
${taskTransition('ABORTED', 'due', {
  workspace_id: 'm.workspace_id',
  task_id: 'm.id',
  actor_kind: `'coordinator'`,
  reason: `'queue_expired'`,
  message: `'It waited in the queue longer than it may'`,
  level: `'WARN'`,
})},
${journaled('tasks')}
SELECT workspace_id, status FROM task_moved`,
);

/** Aborts tasks that waited in the queue for too long. */
@Injectable()
export class ExpireQueued implements Reconciler {
  static readonly facts = {
    name: 'expire_queued',
    counter: 'queuedExpired',
    moves: 'tasks that waited longer than they may',
    notable: 'Tasks were aborted because they had waited too long',
    due: dueAt(`(SELECT queue_expires_at FROM agent_tasks
    WHERE status = 'PENDING' AND queue_expires_at IS NOT NULL ORDER BY queue_expires_at LIMIT 1)`),
  } as const satisfies ReconcilerFacts;

  async sweep(pass: Pass): Promise<SweepResult> {
    return pass.countMoved(await pass.apply(abortExpiredInQueue));
  }
}
