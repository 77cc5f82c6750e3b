import { query } from '#lib/database';
import { COST_COLUMNS, COST_JOINS, type CostRow, MODEL_OF_CHANGE } from '../store/cost.sql.js';

export interface MergedChangeRow extends CostRow {
  task_id: string;
  title: string;
  task_type: string;
  repository_id: string;
  repository_name: string;
  agent_kind: string | null;
  model: string | null;
  merged_at: Date;
  /** Microseconds since 1970, as text. */
  merged_us: string;
  seconds_to_merge: number;
  revision: number;
}

/**
 * What merged changes cost, the latest first. Index: changes_ended_idx. Measured
 * with 100,000 changes: 5 ms for a page of 100. $1 workspace, $2 and $3 the
 * bounds of the time of the merge, $4 repository or NULL, $5 and $6 microseconds and id of the last
 * change of the previous page, or NULL, $7 maximum number of rows.
 */
export const mergedChanges = query<MergedChangeRow>(
  'merged_changes',
  `
WITH page AS MATERIALIZED (
  SELECT c.* FROM changes c
  WHERE c.workspace_id = $1 AND c.state = 'MERGED'
    AND coalesce(c.merged_at, c.closed_at) >= $2 AND coalesce(c.merged_at, c.closed_at) < $3
    AND ($4::uuid IS NULL OR c.repository_id = $4)
    AND ($5::bigint IS NULL OR (coalesce(c.merged_at, c.closed_at), c.task_id)
      < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::uuid))
  ORDER BY coalesce(c.merged_at, c.closed_at) DESC, c.task_id DESC
  LIMIT $7
)
SELECT c.task_id, t.title, t.task_type, c.repository_id, p.name AS repository_name,
  t.agent ->> 'kind' AS agent_kind, ${MODEL_OF_CHANGE} AS model, c.merged_at,
  (extract(epoch FROM c.merged_at) * 1000000)::bigint::text AS merged_us,
  extract(epoch FROM c.merged_at - c.created_at)::int AS seconds_to_merge, c.revision,
  ${COST_COLUMNS}
FROM page c
JOIN agent_tasks t ON t.workspace_id = c.workspace_id AND t.id = c.task_id
JOIN repositories p ON p.workspace_id = c.workspace_id AND p.id = c.repository_id
${COST_JOINS}
ORDER BY c.merged_at DESC, c.task_id DESC`,
);
