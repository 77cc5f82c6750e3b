import type { ATTEMPTS } from './illegal-rows.js';

/** The part of ATTEMPTS about keys of providers and credentials for hosts. */
export const CREDENTIAL_ATTEMPTS: typeof ATTEMPTS = {
  'a model provider': [
    [
      `INSERT INTO model_providers (workspace_id, id, provider, base_url, created_by)
       SELECT uuidv7(), uuidv7(), 'openai', 'x', created_by FROM model_providers`,
      'model_providers_workspace_id_fkey',
    ],
    [
      `INSERT INTO model_providers (workspace_id, id, provider, base_url, created_by)
       SELECT workspace_id, uuidv7(), provider, 'x', created_by FROM model_providers`,
      'model_providers_scope_key',
    ],
    [`UPDATE model_providers SET provider = 'acme'`, 'model_providers_provider_check'],
    [`UPDATE model_providers SET base_url = ''`, 'model_providers_base_url_check'],
    [`UPDATE model_providers SET project_id = uuidv7()`, 'model_providers_project_fkey'],
    [`UPDATE model_providers SET created_by = uuidv7()`, 'model_providers_created_by_fkey'],
    [`UPDATE model_provider_secrets SET key_id = uuidv7()`, 'model_provider_secrets_key_fkey'],
    [
      `UPDATE model_provider_secrets SET provider_id = uuidv7()`,
      'model_provider_secrets_provider_fkey',
    ],
    [
      `UPDATE model_provider_secrets SET column_name = 'previous_secret'`,
      'model_provider_secrets_column_name_check',
    ],
    [
      `UPDATE model_provider_secrets SET expires_at = now()`,
      'model_provider_secrets_expires_at_check',
    ],
  ],
  'a host credential': [
    [
      `INSERT INTO host_credentials (workspace_id, id, host, scheme, header, created_by)
       SELECT uuidv7(), uuidv7(), 'x', 'https', 'x', created_by FROM host_credentials`,
      'host_credentials_workspace_id_fkey',
    ],
    [
      `INSERT INTO host_credentials (workspace_id, id, host, scheme, header, created_by)
       SELECT workspace_id, uuidv7(), host, 'https', 'x', created_by FROM host_credentials`,
      'host_credentials_scope_key',
    ],
    [`UPDATE host_credentials SET host = ''`, 'host_credentials_host_check'],
    [`UPDATE host_credentials SET scheme = 'ftp'`, 'host_credentials_scheme_check'],
    [`UPDATE host_credentials SET header = ''`, 'host_credentials_header_check'],
    [`UPDATE host_credentials SET project_id = uuidv7()`, 'host_credentials_project_fkey'],
    [`UPDATE host_credentials SET created_by = uuidv7()`, 'host_credentials_created_by_fkey'],
    [`UPDATE host_credential_secrets SET key_id = uuidv7()`, 'host_credential_secrets_key_fkey'],
    [
      `UPDATE host_credential_secrets SET credential_id = uuidv7()`,
      'host_credential_secrets_credential_fkey',
    ],
    [
      `UPDATE host_credential_secrets SET column_name = 'previous_secret'`,
      'host_credential_secrets_column_name_check',
    ],
    [
      `UPDATE host_credential_secrets SET expires_at = now()`,
      'host_credential_secrets_expires_at_check',
    ],
  ],
};
