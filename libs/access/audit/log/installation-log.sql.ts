import { command, query } from '#lib/database';

export interface InstallationRow {
  id: string;
  created_at: Date;
  actor_id: string | null;
  account: string | null;
  operation: string;
  path: string;
  status: number;
  details: Record<string, unknown>;
  attempts: number;
  request_id: string;
  address: string;
}

/**
 * As the service role. Index: primary key of users. $1 actor or NULL, $2 account (NULL: the address
 * of the actor), $3 operation, $4 path, $5 status, $6 details, $7 attempts, $8 request id, $9
 * address.
 */
export const insertInstallationEntry = command<unknown>(
  'insert_installation_entry',
  `
INSERT INTO installation_audit_log (actor_id, account, operation, path, status, details, attempts, request_id, address)
VALUES ($1, coalesce($2, (SELECT email FROM users WHERE id = $1)), $3, $4, $5, $6::jsonb, $7, $8, $9)`,
);

/**
 * A page, newest first. As the service role. Index: the primary key backwards, or
 * installation_audit_log_account_idx. $1 account or NULL, $2 operation or NULL, $3 first id or
 * NULL, $4 exclusive last id or NULL, $5 maximum number of rows.
 */
export const installationEntries = query<InstallationRow>(
  'installation_entries',
  `
SELECT id, uuid_extract_timestamp(id) AS created_at, actor_id, account, operation, path, status, details, attempts,
  request_id, address
FROM installation_audit_log
WHERE ($1::text IS NULL OR account = $1) AND ($2::text IS NULL OR operation = $2)
  AND ($3::uuid IS NULL OR id >= $3) AND ($4::uuid IS NULL OR id < $4)
ORDER BY id DESC LIMIT $5`,
);
