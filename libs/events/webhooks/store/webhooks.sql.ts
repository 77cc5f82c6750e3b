import { command, query } from '#lib/database';
import type { Kind, NoticeSettings } from '../domain/kinds.js';

export interface WebhookRow {
  id: string;
  kind: Kind;
  /** Shortened if it is secret. `mailto:` for e-mail. */
  url: string;
  /** Users who receive e-mail. */
  recipients: string[];
  notice: NoticeSettings | null;
  events: string[];
  description: string | null;
  hub_signature: boolean;
  disabled_at: Date | null;
  disabled_reason: 'user' | 'gone' | null;
  failures: number;
  previous_secret_expires_at: Date | null;
  created_by: string | null;
  version: number;
  created_at: Date;
  updated_at: Date;
}

const SHOWN = `w.id, w.kind, w.url, w.recipients, w.notice, w.events, w.description, w.hub_signature, w.disabled_at, w.disabled_reason, w.failures,
  (SELECT s.expires_at FROM webhook_secrets s WHERE s.workspace_id = w.workspace_id AND s.webhook_id = w.id
    AND s.column_name = 'previous_secret' AND s.expires_at > now()) AS previous_secret_expires_at,
  w.created_by, w.version, w.created_at, w.updated_at`;

/**
 * SQL: the time at which its next delivery is due. NULL if none waits, or it is disabled. Index:
 * webhook_deliveries_due_idx.
 */
export const dueOf = (w: string, pausedUntil: string) =>
  `CASE WHEN ${w}.disabled_at IS NULL THEN (
    SELECT greatest(${pausedUntil}, d.next_attempt_at) FROM webhook_deliveries d
    WHERE d.workspace_id = ${w}.workspace_id AND d.webhook_id = ${w}.id AND d.state = 'pending'
    ORDER BY d.next_attempt_at LIMIT 1) END`;

/**
 * SQL: the time before which no message is abandoned. Messages that waited while it was disabled
 * have 24 hours from then.
 */
export const graceOf = (w: string) => `${w}.enabled_at + interval '24 hours'`;

/** Serialises the creation of webhooks in a workspace until the transaction ends. $1 workspace. */
export const lockWebhooks = query<never>(
  'lock_webhooks',
  `SELECT pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1::text, 0))`,
);

/**
 * No row means that the workspace has the maximum number. Under the lock of lockWebhooks. $1
 * workspace, $2 id, $3 URL, $4 events, $5 description, $6 whether with GitHub's signature, $7
 * recipients, $8 settings of notices, $9 kind, $10 maximum number of webhooks, $11 creator.
 */
export const insertWebhook = command<{ id: string }>(
  'insert_webhook',
  `
INSERT INTO webhooks (workspace_id, id, url, events, description, hub_signature, recipients, notice, kind, created_by)
SELECT $1, $2, $3, $4, $5, $6, $7::uuid[], $8::jsonb, $9, $11
WHERE (SELECT count(*) FROM webhooks WHERE workspace_id = $1) < $10
RETURNING id`,
);

/** Index: primary key. $1 workspace, $2 webhook. */
export const findWebhook = query<WebhookRow>(
  'find_webhook',
  `SELECT ${SHOWN} FROM webhooks w WHERE w.workspace_id = $1 AND w.id = $2`,
);

/**
 * Oldest first. Index: primary key. $1 workspace, $2 last id of the previous page or NULL, $3
 * maximum number of rows.
 */
export const listWebhooks = query<WebhookRow>(
  'list_webhooks',
  `
SELECT ${SHOWN} FROM webhooks w
WHERE w.workspace_id = $1 AND ($2::uuid IS NULL OR w.id > $2)
ORDER BY w.id LIMIT $3`,
);

/** Index: primary key. $1 workspace, $2 webhook. */
export const lockWebhook = query<WebhookRow>(
  'lock_webhook',
  `SELECT ${SHOWN} FROM webhooks w WHERE w.workspace_id = $1 AND w.id = $2 FOR NO KEY UPDATE`,
);

/**
 * After lockWebhook. Enabling it, or changing its target, ends the pause after failures. $1
 * workspace, $2 webhook, $3 URL, $4 events, $5 description, $6 whether with GitHub's signature, $7
 * recipients, $8 settings of notices, $9 whether enabled, $10 whether the target is unchanged.
 */
export const changeWebhook = command<{ id: string }>(
  'change_webhook',
  `
UPDATE webhooks w SET url = $3, events = $4, description = $5, hub_signature = $6,
  recipients = $7::uuid[], notice = $8::jsonb,
  disabled_at = CASE WHEN NOT $9 THEN coalesce(w.disabled_at, now()) END,
  disabled_reason = CASE WHEN NOT $9 THEN coalesce(w.disabled_reason, 'user') END,
  enabled_at = CASE WHEN $9 AND w.disabled_at IS NOT NULL THEN now() ELSE w.enabled_at END,
  failures = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.failures ELSE 0 END,
  paused_until = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.paused_until END,
  -- What the receiver before answers from now on says nothing about this one.
  lease = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.lease END,
  leased_until = CASE WHEN $10 AND w.disabled_at IS NULL THEN w.leased_until END,
  due_at = CASE WHEN NOT $9 THEN NULL
    WHEN $10 AND w.disabled_at IS NULL THEN w.due_at
    ELSE (SELECT d.next_attempt_at FROM webhook_deliveries d
      WHERE d.workspace_id = w.workspace_id AND d.webhook_id = w.id AND d.state = 'pending'
      ORDER BY d.next_attempt_at LIMIT 1) END,
  version = w.version + 1, updated_at = now()
WHERE w.workspace_id = $1 AND w.id = $2
RETURNING w.id`,
);

/**
 * Disables the enabled webhooks of a creator, or only locks and returns them. Reads the webhooks of
 * the workspace by the primary key. $1 workspace, $2 creator, $3 whether they stay enabled.
 */
export const handOverWebhooks = command<{ id: string; description: string | null }>(
  'hand_over_webhooks',
  `
UPDATE webhooks w SET
  disabled_at = CASE WHEN NOT $3 THEN now() END,
  disabled_reason = CASE WHEN NOT $3 THEN 'user' END,
  due_at = CASE WHEN $3 THEN w.due_at END,
  version = w.version + CASE WHEN $3 THEN 0 ELSE 1 END,
  updated_at = CASE WHEN $3 THEN w.updated_at ELSE now() END
WHERE w.workspace_id = $1 AND w.created_by = $2 AND w.disabled_at IS NULL
RETURNING w.id, w.description`,
);

/** Includes its secrets. Index: primary key. $1 workspace, $2 webhook. */
export const deleteWebhook = command<{ id: string }>(
  'delete_webhook',
  `DELETE FROM webhooks WHERE workspace_id = $1 AND id = $2 RETURNING id`,
);

/**
 * The members among some users, by their ids or addresses, without disabled accounts. Indexes:
 * workspace_members (primary key), users (primary key). $1 workspace, $2 ids and addresses, $3
 * whether a password proves an address.
 */
export const findMembers = query<{ id: string; email: string }>(
  'webhooks_find_members',
  `
SELECT u.id, u.email FROM workspace_members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
WHERE m.workspace_id = $1 AND (u.id::text = ANY ($2::text[]) OR u.email = ANY ($2::text[]))
  AND ($3 AND u.email_verified OR u.password_hash IS NULL)`,
);
