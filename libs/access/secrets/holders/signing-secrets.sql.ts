import { command, query } from '#lib/database';
import type { SigningColumn } from '../domain/originals.js';

/** A signing secret of `owner_id`, with its key. */
export interface SigningSecretRow {
  workspace_id: string;
  owner_id: string;
  column_name: SigningColumn;
  key_id: string;
  sealed: unknown;
}

/** A table of signing secrets, and its column for those that have them. */
interface Kind {
  table: string;
  id: string;
}

/**
 * Runs after the statement that creates the owner. $1 workspace, $2 owner, $3 column, $4 key, $5
 * sealed, $6 seconds of validity or NULL.
 */
const writing = (name: string, { table, id }: Kind) =>
  command<never>(
    name,
    `
INSERT INTO ${table} (workspace_id, ${id}, column_name, key_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5::jsonb, now() + make_interval(secs => $6))
ON CONFLICT (workspace_id, ${id}, column_name)
  DO UPDATE SET key_id = excluded.key_id, sealed = excluded.sealed, expires_at = excluded.expires_at, unreadable_at = NULL`,
  );

/** The valid secrets, the current one first. Index: primary key. $1 workspaces, $2 their owners. */
const valid = (name: string, { table, id }: Kind) =>
  query<SigningSecretRow>(
    name,
    `
SELECT s.workspace_id, s.${id} AS owner_id, s.column_name, s.key_id, s.sealed
FROM unnest($1::uuid[], $2::uuid[]) AS w (workspace_id, id)
JOIN ${table} s ON s.workspace_id = w.workspace_id AND s.${id} = w.id
WHERE s.expires_at IS NULL OR s.expires_at > now()
ORDER BY s.column_name DESC`,
  );

const ofWebhooks = { table: 'webhook_secrets', id: 'webhook_id' };
const ofInboundHooks = { table: 'inbound_hook_secrets', id: 'hook_id' };
const ofModelProviders = { table: 'model_provider_secrets', id: 'provider_id' };
const ofHostCredentials = { table: 'host_credential_secrets', id: 'credential_id' };
const ofRepositories = { table: 'repository_secrets', id: 'repository_id' };

export const WEBHOOK_SECRETS = {
  write: writing('write_webhook_secret', ofWebhooks),
  valid: valid('valid_webhook_secrets', ofWebhooks),
};

export const INBOUND_HOOK_SECRETS = {
  write: writing('write_inbound_hook_secret', ofInboundHooks),
  valid: valid('valid_inbound_hook_secrets', ofInboundHooks),
};

export const MODEL_PROVIDER_SECRETS = {
  write: writing('write_model_provider_secret', ofModelProviders),
  valid: valid('valid_model_provider_secrets', ofModelProviders),
};

export const HOST_CREDENTIAL_SECRETS = {
  write: writing('write_host_credential_secret', ofHostCredentials),
  valid: valid('valid_host_credential_secrets', ofHostCredentials),
};

export const REPOSITORY_SECRETS = {
  write: writing('write_repository_secret', ofRepositories),
  valid: valid('valid_repository_secrets', ofRepositories),
};
