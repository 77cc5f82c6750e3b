import { command, query } from '#lib/database';
import { isReady } from '#lib/transitions';

export interface PauseRow {
  id: string;
  scope: 'workspace' | 'task_type' | 'everything';
  task_type: string | null;
  reason: string;
  paused_by: string;
  created_at: Date;
  until: Date | null;
  ended_at: Date | null;
  ended_by: string | null;
  /** It also ends the live runs of its tasks. */
  ends_runs: boolean;
  /** The API key, if one was used. */
  paused_by_key: string | null;
  ended_by_key: string | null;
}

const OWN = `id, CASE WHEN task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope,
  task_type::text, reason, paused_by, created_at, until, ended_at, ended_by, ends_runs, paused_by_key, ended_by_key`;
const INSTALLATION = `id, 'everything' AS scope, NULL::text AS task_type, reason, paused_by, created_at,
  until, ended_at, ended_by, ends_runs, NULL::uuid AS paused_by_key, NULL::uuid AS ended_by_key`;

/**
 * No row means that $6 has passed by the database's clock.
 *
 * $1 workspace, $2 id, $3 task type or NULL, $4 reason, $5 user, $6 until or NULL, $7 API key or
 * NULL, $8 whether it ends runs.
 */
export const insertPause = command<PauseRow>(
  'insert_pause',
  `
INSERT INTO pauses (workspace_id, id, task_type, reason, paused_by, until, paused_by_key, ends_runs)
SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE coalesce($6::timestamptz > now(), true)
RETURNING ${OWN}`,
);

/**
 * No row means that $4 has passed by the database's clock.
 *
 * As the service role, for an operator. $1 id, $2 reason, $3 user, $4 until or NULL, $5
 * whether it ends runs.
 */
export const insertInstallationPause = command<PauseRow>(
  'insert_installation_pause',
  `
INSERT INTO installation_pauses (id, reason, paused_by, until, ends_runs)
SELECT $1, $2, $3, $4, $5 WHERE coalesce($4::timestamptz > now(), true)
RETURNING ${INSTALLATION}`,
);

/**
 * The pauses of a workspace and of the installation, newest first: current ones, or all.
 *
 * Indexes: pauses_holding_idx or the primary keys, backwards. $1 workspace, $2 whether to include
 * ended ones, $3 last id of the previous page or NULL, $4 maximum number of rows.
 */
export const listPauses = query<PauseRow>(
  'list_pauses',
  `
SELECT * FROM (
  SELECT ${OWN} FROM pauses WHERE workspace_id = $1
  UNION ALL
  SELECT ${INSTALLATION} FROM installation_pauses) p
WHERE ($2::boolean OR (ended_at IS NULL AND (until IS NULL OR until > now())))
  AND ($3::uuid IS NULL OR id < $3)
ORDER BY id DESC
LIMIT $4`,
);

/** Index: primary key. $1 workspace, $2 id. */
export const findPause = query<PauseRow>(
  'find_pause',
  `
SELECT ${OWN} FROM pauses WHERE workspace_id = $1 AND id = $2
UNION ALL
SELECT ${INSTALLATION} FROM installation_pauses WHERE id = $2`,
);

/** An ended pause stays unchanged. $1 workspace, $2 id, $3 user, $4 API key or NULL. */
export const endPause = command<PauseRow>(
  'end_pause',
  `
UPDATE pauses SET ended_at = now(), ended_by = $3, ended_by_key = $4
WHERE workspace_id = $1 AND id = $2 AND ended_at IS NULL
RETURNING ${OWN}`,
);

/** As the service role, for an operator. $1 id, $2 user. */
export const endInstallationPause = command<PauseRow>(
  'end_installation_pause',
  `
UPDATE installation_pauses SET ended_at = now(), ended_by = $2 WHERE id = $1 AND ended_at IS NULL
RETURNING ${INSTALLATION}`,
);

/**
 * The other pauses that still hold tasks of this one, newest first.
 *
 * Indexes: pauses_holding_idx, installation_pauses_holding_idx. $1 workspace, $2 id, $3 its task
 * type, NULL: all.
 */
export const otherPauses = query<{ id: string }>(
  'other_pauses',
  `
SELECT id FROM pauses
WHERE workspace_id = $1 AND id <> $2 AND ended_at IS NULL AND (until IS NULL OR until > now())
  AND ($3::text IS NULL OR task_type IS NULL OR task_type = $3)
UNION ALL
SELECT id FROM installation_pauses
WHERE id <> $2 AND ended_at IS NULL AND (until IS NULL OR until > now())
ORDER BY id DESC`,
);

/**
 * Ends pauses whose time has passed. A NULL workspace means the whole installation.
 *
 * Once a cycle, as the service role. Indexes: pauses_holding_idx, installation_pauses_holding_idx
 * (both are read whole, because few pauses apply).
 */
export const endOverduePauses = command<{ workspace_id: string | null }>(
  'end_overdue_pauses',
  `
WITH own AS (
  UPDATE pauses SET ended_at = until WHERE ended_at IS NULL AND until <= now() RETURNING workspace_id),
installation AS (
  UPDATE installation_pauses SET ended_at = until WHERE ended_at IS NULL AND until <= now() RETURNING id)
SELECT workspace_id FROM own UNION SELECT NULL FROM installation`,
);

/** Workspaces with waiting tasks. */
export const waitingWorkspaces = query<{ workspace_id: string }>(
  'waiting_workspaces',
  `
SELECT w.id AS workspace_id FROM workspaces w
WHERE w.archived_at IS NULL AND EXISTS (SELECT FROM agent_tasks t
  WHERE t.workspace_id = w.id AND ${isReady('t')})`,
);
