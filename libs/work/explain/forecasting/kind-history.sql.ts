import { query } from '#lib/database';

export interface KindRow {
  /** See kindOf. */
  kind: string;
  durations: number[];
  waits: number[];
}

/** Number of completed tasks of a kind that an estimate uses, the latest ones. */
const LOOKED_AT = 200;

/**
 * A limit that Postgres does not know: it expects to read a tenth of the rows. With the number it
 * reads and sorts all tasks of a kind.
 */
const LIMIT = `LIMIT (SELECT ${LOOKED_AT})`;

const latestOf = (column: string) => `
  (SELECT extract(epoch FROM t.completed_at - coalesce(t.started_at, t.assigned_at))::float8 AS duration,
    extract(epoch FROM t.assigned_at - t.ready_at)::float8 AS wait
  FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.${column} = requested.kind AND t.completed_at IS NOT NULL
    AND t.assigned_at IS NOT NULL
  ORDER BY t.completed_at DESC ${LIMIT})`;

/**
 * Durations and waits of the latest completed tasks of some kinds, in seconds. A kind without
 * completed tasks has no row.
 *
 * Indexes: agent_tasks_history_idx and agent_tasks_command_history_idx, backwards, and as many rows
 * of the table. With 100,000 completed tasks of 500 commands, 90,000 of them of one: 0.5 ms for 20 kinds
 * (99 ms with a known limit). Tried: the durations as columns of the index. Reading would cost half, but every
 * completion a wider entry.
 *
 * $1 workspace, $2 names of kinds.
 */
export const kindHistory = query<KindRow>(
  'kind_history',
  `
SELECT requested.kind, array_agg(latest.duration) AS durations,
  coalesce(array_agg(latest.wait) FILTER (WHERE latest.wait IS NOT NULL), '{}') AS waits
FROM unnest($2::text[]) AS requested (kind) CROSS JOIN LATERAL (${latestOf('task_type')}
  UNION ALL${latestOf('command_kind')}) latest
GROUP BY requested.kind`,
);
