import { query } from '#lib/database';
import type { Invariant, Violation } from './invariant.js';

/**
 * The quota of a workspace counts the artifacts that it has.
 *
 * Reads all artifacts and all sums.
 */
export const artifactsAddUp: Invariant = {
  name: 'artifacts_add_up',
  title: 'The size of all artifacts of a workspace is the sum of their sizes',
  sql: query<Violation>(
    'invariant_artifacts_add_up',
    `
SELECT 'workspace ' || u.workspace_id AS subject,
  'counts ' || u.bytes || ' bytes, and its artifacts have ' || coalesce(a.bytes, 0) AS problem
FROM artifact_usage u
LEFT JOIN (SELECT a.workspace_id, sum(a.size_bytes) AS bytes FROM artifacts a GROUP BY 1) a
  ON a.workspace_id = u.workspace_id
WHERE u.bytes <> coalesce(a.bytes, 0)
ORDER BY u.workspace_id LIMIT $1`,
  ),
};
