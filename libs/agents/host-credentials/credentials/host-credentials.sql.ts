import { command, query } from '#lib/database';
import type { HostCredential } from '#lib/kernel';

export interface HostCredentialRow {
  id: string;
  host: string;
  scheme: HostCredential['scheme'];
  header: string;
  project_id: string | null;
  created_at: Date;
  updated_at: Date;
}

const SHOWN = 'c.id, c.host, c.scheme, c.header, c.project_id, c.created_at, c.updated_at';

/** Index: host_credentials_scope_key. $1 workspace, which has at most about a hundred. */
export const listHostCredentials = query<HostCredentialRow>(
  'list_host_credentials',
  `
SELECT ${SHOWN} FROM host_credentials c WHERE c.workspace_id = $1
ORDER BY c.host, c.project_id NULLS FIRST`,
);

/**
 * Creates or changes one; no row if the workspace has the maximum. Two at once can exceed it by one.
 * Index: host_credentials_scope_key. $1 workspace, $2 id if it is new, $3 host, $4 project or NULL,
 * $5 scheme, $6 header, $7 user, $8 the maximum.
 */
export const writeHostCredential = command<HostCredentialRow>(
  'write_host_credential',
  `
INSERT INTO host_credentials AS c (workspace_id, id, host, project_id, scheme, header, created_by)
SELECT $1::uuid, $2::uuid, $3::text, $4::uuid, $5::text, $6::text, $7::uuid
WHERE (SELECT count(*) FROM host_credentials o WHERE o.workspace_id = $1
  AND NOT (o.host = $3 AND o.project_id IS NOT DISTINCT FROM $4)) < $8
ON CONFLICT (workspace_id, host, project_id) DO UPDATE SET scheme = excluded.scheme,
  header = excluded.header, created_by = excluded.created_by, updated_at = now()
RETURNING ${SHOWN}`,
);

/** Index: host_credentials_scope_key. $1 workspace, $2 host, $3 project or NULL. */
export const deleteHostCredential = command<{ id: string }>(
  'delete_host_credential',
  `
DELETE FROM host_credentials c
WHERE c.workspace_id = $1 AND c.host = $2 AND c.project_id IS NOT DISTINCT FROM $3
RETURNING c.id`,
);

/**
 * The credentials of a live run: for each host that of its project, else that of the workspace. One
 * row with nulls if there are none, and no row for another run. Indexes: primary keys of runs and
 * tasks, host_credentials_scope_key. $1 workspace, $2 live run, $3 its agent.
 */
export const credentialsOfRun = query<
  Pick<HostCredentialRow, 'host' | 'scheme' | 'header'> & { id: string | null }
>(
  'credentials_of_run',
  `
SELECT DISTINCT ON (c.host) c.id, c.host, c.scheme, c.header
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN host_credentials c ON c.workspace_id = $1
  AND (c.project_id IS NULL OR c.project_id = t.project_id)
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3
ORDER BY c.host, c.project_id NULLS LAST`,
);
