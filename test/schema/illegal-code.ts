import type { ATTEMPTS } from './illegal-rows.js';

const REPOSITORY = (column: string, value: string, constraint = `repositories_${column}_check`) =>
  [`UPDATE repositories SET ${column} = ${value}`, constraint] as [string, string];
const SECRET = (column: string, value: string, constraint: string) =>
  [`UPDATE repository_secrets SET ${column} = ${value}`, constraint] as [string, string];

/** The part of ATTEMPTS about repositories. */
export const CODE_ATTEMPTS: typeof ATTEMPTS = {
  'a repository': [
    [
      `INSERT INTO repositories (workspace_id, id, name, url) VALUES (uuidv7(), uuidv7(), 'x', 'x')`,
      'repositories_workspace_id_fkey',
    ],
    [
      `INSERT INTO repositories (workspace_id, id, name, url)
       SELECT workspace_id, uuidv7(), name, 'x' FROM repositories`,
      'repositories_name_key',
    ],
    REPOSITORY('name', `''`),
    REPOSITORY('url', `''`),
    REPOSITORY('default_branch', `''`),
    REPOSITORY('branch_pattern', `'{agent}'`),
    REPOSITORY('review', `'nobody'`),
    REPOSITORY('review', `'agent'`, 'repositories_reviewer_check'),
    REPOSITORY('reviewer_model', `'x'`, 'repositories_reviewer_check'),
    REPOSITORY('merge_method', `'octopus'`),
    REPOSITORY('max_revisions', '-1'),
    REPOSITORY('committer_name', `'x'`, 'repositories_committer_check'),
    REPOSITORY('setup_timeout_seconds', '0'),
    REPOSITORY('acceptance_timeout_seconds', '0'),
    REPOSITORY('variables', `'[]'`),
    REPOSITORY('network', `'all'`),
    REPOSITORY('forge', `'hub'`),
    REPOSITORY('credential_kind', `'password'`),
    REPOSITORY('project_id', 'uuidv7()', 'repositories_project_fkey'),
    REPOSITORY('check_state', `'asked'`),
    REPOSITORY('check_state', `'running'`, 'repositories_check_lease_check'),
    REPOSITORY('check_findings', `'{}'`),
    SECRET('key_id', 'uuidv7()', 'repository_secrets_key_fkey'),
    SECRET('repository_id', 'uuidv7()', 'repository_secrets_repository_fkey'),
    SECRET('column_name', `'previous_secret'`, 'repository_secrets_column_name_check'),
    SECRET('expires_at', 'now()', 'repository_secrets_expires_at_check'),
  ],
};
