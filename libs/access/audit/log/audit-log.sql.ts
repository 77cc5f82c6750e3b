import { command, query } from '#lib/database';

export interface AuditRow {
  id: string;
  created_at: Date;
  actor_kind: 'user' | 'api_key';
  actor_id: string;
  actor_name: string | null;
  operation: string;
  path: string;
  status: number;
  request_id: string;
  address: string;
  details: Record<string, unknown>;
}

/**
 * One entry with the current name of its actor. The function refuses drover_app the log of another
 * workspace.
 *
 * In the transaction of the change, as its role, or afterwards as the service role. Indexes:
 * primary keys of users and api_keys. $1 whether only a transaction that has written keeps it, $2
 * workspace, $3 kind and $4 id of the actor, $5 operation, $6 path, $7 status, $8 request id, $9
 * address, $10 details.
 */
export const keepAuditEntry = command<{ kept: boolean }>(
  'keep_audit_entry',
  `SELECT keep_audit_entry($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb) AS kept`,
);

/**
 * A page of the entries of a workspace, newest first.
 *
 * Index: the primary key backwards; audit_log_actor_idx or audit_log_operation_idx with that
 * filter. Times are bounds of ids, which start with them. $1 workspace, $2 actor or NULL, $3
 * operation or NULL, $4 first id or NULL, $5 exclusive last id or NULL, $6 maximum number of rows.
 */
export const auditEntries = query<AuditRow>(
  'audit_entries',
  `
SELECT id, uuid_extract_timestamp(id) AS created_at, actor_kind, actor_id, actor_name, operation, path, status,
  request_id, address, details
FROM audit_log
WHERE workspace_id = $1 AND ($2::uuid IS NULL OR actor_id = $2) AND ($3::text IS NULL OR operation = $3)
  AND ($4::uuid IS NULL OR id >= $4) AND ($5::uuid IS NULL OR id < $5)
ORDER BY id DESC LIMIT $6`,
);

/**
 * Removes the oldest entries of workspaces and installation that are older than $1 days, at most $2
 * of each.
 *
 * As the owner, by a function, because no role of a server can remove entries. Index:
 * audit_log_id_idx, from its start.
 */
export const pruneAuditLog = command<{ removed: number }>(
  'prune_audit_log',
  `SELECT prune_audit_logs($1, $2) AS removed`,
);
