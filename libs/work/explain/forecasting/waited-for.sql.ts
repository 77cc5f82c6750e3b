import { query } from '#lib/database';
import { endedBadly, type TaskStatus } from '#lib/transitions';
import { type HoldCode, heldBackBy, scopeOf } from '#lib/runs';
import { AWAITED } from '../store/awaited.sql.js';
import { kindOf } from '../store/kind.sql.js';
import type { DependencyPolicy } from '#lib/task-manager';

/** An unsettled dependency with its prerequisite. */
export interface WaitedForRow {
  /** The waiting task. */
  task_id: string;
  policy: DependencyPolicy;
  completed: boolean;
  ended_without_success: boolean;
  id: string;
  task_type: string;
  /** See kindOf. */
  kind: string;
  project_id: string | null;
  status: TaskStatus;
  retry_at: Date | null;
  queue_expires_at: Date | null;
  unmet_dependencies: number;
  awaited_start: Date | null;
  awaited_key: string | null;
  concurrency_limit: number | null;
  /** Everything that holds it back, or would if it were PENDING. */
  held_back: HoldCode[];
  assigned_at: Date | null;
  started_at: Date | null;
  required_capabilities: string[];
  queue_rank: string | null;
}

/**
 * The unsettled dependencies of a task, of its prerequisites and so on, the nearest first, at most
 * $3. Each edge comes once, whatever the paths to it, and a circle ends.
 *
 * Indexes: primary keys of task_dependencies and agent_tasks. $1 workspace, $2 task, $3 maximum
 * number of rows.
 */
export const waitedFor = query<WaitedForRow>(
  'waited_for',
  `
WITH RECURSIVE edge AS (
  SELECT d.task_id, d.depends_on_id, d.policy FROM task_dependencies d
  WHERE d.workspace_id = $1 AND d.task_id = $2 AND d.settled_at IS NULL
  UNION
  SELECT d.task_id, d.depends_on_id, d.policy
  FROM edge e JOIN task_dependencies d
    ON d.workspace_id = $1 AND d.task_id = e.depends_on_id AND d.settled_at IS NULL
)
SELECT e.task_id, e.policy, p.completed_at IS NOT NULL AS completed,
  ${endedBadly('p')} AS ended_without_success,
  p.id, p.task_type, ${kindOf('p')} AS kind, p.project_id, p.status, p.retry_at, p.queue_expires_at, p.unmet_dependencies, p.assigned_at,
  ${AWAITED('p')},
  p.started_at, p.required_capabilities, p.queue_rank,
  ${heldBackBy('p', scopeOf('$1'))} AS held_back
FROM (SELECT * FROM edge LIMIT $3) e
JOIN agent_tasks p ON p.workspace_id = $1 AND p.id = e.depends_on_id`,
);
