import { query } from '#lib/database';

export interface KindRow {
  taskType: string;
  durations: number[];
  waits: number[];
}

/** Number of completed tasks of a type that an estimate uses, the latest ones. */
const LOOKED_AT = 200;

/**
 * Durations and waits of the latest completed tasks of some types, in seconds. A type without
 * completed tasks has no row.
 *
 * Index: agent_tasks_history_idx, backwards, and as many rows of the table. Tried: the durations as
 * columns of the index. Reading would cost half, but every completion a wider entry.
 *
 * $1 workspace, $2 task types.
 */
export const kindHistory = query<KindRow>(
  'kind_history',
  `
SELECT requested.task_type AS "taskType", array_agg(latest.duration) AS durations,
  coalesce(array_agg(latest.wait) FILTER (WHERE latest.wait IS NOT NULL), '{}') AS waits
FROM unnest($2::text[]) AS requested (task_type) CROSS JOIN LATERAL (
  SELECT extract(epoch FROM t.completed_at - coalesce(t.started_at, t.assigned_at))::float8 AS duration,
    extract(epoch FROM t.assigned_at - t.ready_at)::float8 AS wait
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.task_type = requested.task_type AND t.completed_at IS NOT NULL
    AND t.assigned_at IS NOT NULL
  ORDER BY t.completed_at DESC
  LIMIT ${LOOKED_AT}) latest
GROUP BY requested.task_type`,
);
