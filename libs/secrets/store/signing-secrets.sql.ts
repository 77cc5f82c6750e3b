import { command, query } from '#lib/database';
import type { ColumnOfWebhook, Original } from '../domain/originals.js';

/** Behind the statement that makes the webhook. $1 workspace, $2 webhook, $3 column, $4 key, $5 sealed, $6 seconds that it is still valid or NULL. */
export const writeWebhookSecret = command<never>(
  'write_webhook_secret',
  `
INSERT INTO webhook_secrets (workspace_id, webhook_id, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, webhook_id, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL`,
);

/** Those that are valid, the current one first. Index: primary key. $1 workspaces, $2 their webhooks. */
export const validWebhookSecrets = query<Original<ColumnOfWebhook>>(
  'valid_webhook_secrets',
  `
SELECT s.workspace_id, s.webhook_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN webhook_secrets s ON s.workspace_id = w.workspace_id AND s.webhook_id = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC`,
);
