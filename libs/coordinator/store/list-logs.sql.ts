import { query } from '#lib/database';

export interface CoordinatorLogRow {
  id: string;
  workspace_id: string | null;
  instance_id: string;
  level: string;
  event: string;
  message: string | null;
  details: Record<string, unknown>;
  created_at: Date;
}

const COLUMNS = 'id, workspace_id, instance_id, level, event, message, details, created_at';
const PAGE = `level = ANY($1::text[]) AND ($2::bigint IS NULL OR id < $2)
ORDER BY id DESC
LIMIT $3`;

/**
 * A page of the log of one workspace, the newest first. $1 levels, $2 the id before which, or NULL,
 * $3 rows, $4 workspace.
 *
 * As the tenant, or as the service role for an operator. Index:
 * coordinator_logs_workspace_idx, backwards.
 */
export const listWorkspaceLogs = query<CoordinatorLogRow>(
  'coordinator_list_workspace_logs',
  `SELECT ${COLUMNS} FROM coordinator_logs WHERE workspace_id = $4 AND ${PAGE}`,
);

/** The same of the whole installation, for operators. Index: primary key, backwards. */
export const listAllLogs = query<CoordinatorLogRow>(
  'coordinator_list_all_logs',
  `SELECT ${COLUMNS} FROM coordinator_logs WHERE ${PAGE}`,
);
