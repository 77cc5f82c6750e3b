import { command, query } from '#lib/database';
import type { HookRule } from '../domain/rules.js';
import type { HookKind } from '../domain/signature.js';

export interface InboundHookRow {
  workspace_id: string;
  id: string;
  kind: HookKind;
  description: string | null;
  rules: HookRule[];
  disabled_at: Date | null;
  created_by: string;
  previous_secret_expires_at: Date | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

const SHOWN = `h.workspace_id, h.id, h.kind, h.description, h.rules, h.disabled_at, h.created_by,
  (SELECT s.expires_at FROM inbound_hook_secrets s WHERE s.workspace_id = h.workspace_id AND s.hook_id = h.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  h.version, h.created_at, h.updated_at`;

/** Serialises the creation of hooks in a workspace until the transaction ends. $1 workspace. */
export const lockInboundHooks = query<never>(
  'lock_inbound_hooks',
  `SELECT pg_advisory_xact_lock(hashtextextended('inbound hooks of ' || $1::text, 0))`,
);

/**
 * No row means that the workspace has the maximum number. Under the lock of lockInboundHooks. $1
 * workspace, $2 id, $3 kind, $4 description, $5 rules, $6 user, $7 maximum number of hooks.
 */
export const insertInboundHook = command<{ id: string }>(
  'insert_inbound_hook',
  `
INSERT INTO inbound_hooks (workspace_id, id, kind, description, rules, created_by)
SELECT $1, $2, $3, $4, $5::jsonb, $6 WHERE (SELECT count(*) FROM inbound_hooks WHERE workspace_id = $1) < $7
RETURNING id`,
);

/** Index: primary key. $1 workspace, $2 hook. */
export const findInboundHook = query<InboundHookRow>(
  'find_inbound_hook',
  `SELECT ${SHOWN} FROM inbound_hooks h WHERE h.workspace_id = $1 AND h.id = $2`,
);

/**
 * Oldest first. Index: primary key. $1 workspace, $2 last id of the previous page or NULL, $3
 * maximum number of rows.
 */
export const listInboundHooks = query<InboundHookRow>(
  'list_inbound_hooks',
  `
SELECT ${SHOWN} FROM inbound_hooks h
WHERE h.workspace_id = $1 AND ($2::uuid IS NULL OR h.id > $2)
ORDER BY h.id LIMIT $3`,
);

/** Index: primary key. $1 workspace, $2 hook. */
export const lockInboundHook = query<InboundHookRow>(
  'lock_inbound_hook',
  `SELECT ${SHOWN} FROM inbound_hooks h WHERE h.workspace_id = $1 AND h.id = $2 FOR NO KEY UPDATE`,
);

/** After lockInboundHook. $1 workspace, $2 hook, $3 description, $4 rules, $5 whether enabled. */
export const changeInboundHook = command<{ id: string }>(
  'change_inbound_hook',
  `
UPDATE inbound_hooks h SET description = $3, rules = $4::jsonb,
  disabled_at = CASE WHEN NOT $5 THEN coalesce(h.disabled_at, now()) END,
  version = h.version + 1, updated_at = now()
WHERE h.workspace_id = $1 AND h.id = $2
RETURNING h.id`,
);

/**
 * Disables the enabled hooks of a creator, or only locks and returns them. Reads the hooks of the
 * workspace by the primary key. $1 workspace, $2 creator, $3 whether they stay enabled.
 */
export const handOverInboundHooks = command<{ id: string; description: string | null }>(
  'hand_over_inbound_hooks',
  `
UPDATE inbound_hooks h SET
  disabled_at = CASE WHEN NOT $3 THEN now() END,
  version = h.version + CASE WHEN $3 THEN 0 ELSE 1 END,
  updated_at = CASE WHEN $3 THEN h.updated_at ELSE now() END
WHERE h.workspace_id = $1 AND h.created_by = $2 AND h.disabled_at IS NULL
RETURNING h.id, h.description`,
);

/**
 * Includes its secrets and the links from tasks to subjects. Indexes: primary key,
 * inbound_hook_deliveries_subject_idx. With 10,000 links: 11 ms. $1 workspace, $2 hook.
 */
export const deleteInboundHook = command<{ id: string }>(
  'delete_inbound_hook',
  `
WITH links AS (
  DELETE FROM inbound_hook_deliveries WHERE workspace_id = $1 AND hook_id = $2 AND outcome = 'created'
)
DELETE FROM inbound_hooks WHERE workspace_id = $1 AND id = $2 RETURNING id`,
);

/**
 * The hook of an address, which names no workspace. None if the workspace is archived. Index:
 * inbound_hooks_id_key. $1 hook.
 */
export const hookOfAddress = query<
  Pick<InboundHookRow, 'workspace_id' | 'id' | 'kind' | 'rules' | 'disabled_at'>
>(
  'hook_of_address',
  `
SELECT h.workspace_id, h.id, h.kind, h.rules, h.disabled_at
FROM inbound_hooks h JOIN workspaces w ON w.id = h.workspace_id AND w.archived_at IS NULL
WHERE h.id = $1`,
);
