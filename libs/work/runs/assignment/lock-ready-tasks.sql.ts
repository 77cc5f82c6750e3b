import { pausedTypes } from '#lib/admission';
import { query } from '#lib/database';
import { availableBudgets } from '#lib/budgets';
import { serves } from '#lib/transitions';
import { mayBeHandedOut, OFFER, type Offer, takesType } from '../store/hand-out.sql.js';

/** Agents of one workspace that take the same tasks. */
export interface Seeker extends Readonly<Offer> {
  workspace_id: string;
  /** Number of tasks that they could take together. */
  want: number;
}

export interface ReadyTaskRow {
  workspace_id: string;
  id: string;
  task_type: string;
  required_capabilities: string[];
  /** A bigint as text. */
  queue_rank: string;
}

/**
 * The heads of the queues that push agents serve, locked: as many tasks of each as its agents could
 * take.
 *
 * As the service role, with the agents locked. It never waits for a task. Indexes: capability_sets
 * (primary key), agent_tasks_queue_idx from its head, once for each queue and choice of task types.
 * $1 JSON array of Seeker.
 */
export const lockReadyTasks = query<ReadyTaskRow>(
  'lock_ready_tasks',
  `
WITH queue AS MATERIALIZED (
  SELECT c.workspace_id, c.key, s.task_types, sum(s.want)::int AS want,
    ${pausedTypes('c.workspace_id')} AS paused,
    ${availableBudgets('c.workspace_id')} AS budgets
  FROM jsonb_to_recordset($1::jsonb) AS s (workspace_id uuid,
    ${OFFER.map((column) => `${column} text[]`).join(', ')}, want int)
  JOIN capability_sets c ON c.workspace_id = s.workspace_id AND ${serves('s', 'c.capabilities')}
  GROUP BY c.workspace_id, c.key, s.task_types
)
-- Agents of all types and agents of one type can find the same task.
SELECT DISTINCT head.workspace_id, head.id, head.task_type, head.required_capabilities,
  head.queue_rank
FROM queue q CROSS JOIN LATERAL (
  SELECT t.workspace_id, t.id, t.task_type, t.required_capabilities, t.queue_rank FROM agent_tasks t
  WHERE t.workspace_id = q.workspace_id AND t.capability_key = q.key
    AND ${mayBeHandedOut('t', { workspace: 'q.workspace_id', pausedTypes: 'q.paused', budgets: 'q.budgets' })}
    AND ${takesType('q', 't.task_type')}
  ORDER BY t.queue_rank
  LIMIT q.want
  FOR NO KEY UPDATE OF t SKIP LOCKED) head`,
);
