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
}

/**
 * One entry with the current name of its actor.
 *
 * As the service role: operators are no members of the workspaces whose limits they set, and a
 * former member cannot see it. Indexes: primary keys of users and api_keys. $1 workspace, $2 kind
 * and $3 id of the actor, $4 operation, $5 path, $6 status, $7 request id, $8 address.
 */
export const insertAuditEntry = command<unknown>(
  'insert_audit_entry',
  `
INSERT INTO audit_log (workspace_id, actor_kind, actor_id, actor_name, operation, path, status, request_id, address)
VALUES ($1, $2, $3,
  CASE $2 WHEN 'user' THEN (SELECT email FROM users WHERE id = $3)
    ELSE (SELECT name FROM api_keys WHERE workspace_id = $1 AND id = $3) END,
  $4, $5, $6, $7, $8)`,
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
  request_id, address
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
