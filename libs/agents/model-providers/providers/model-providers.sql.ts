import { command, query } from '#lib/database';
import type { Provider } from '../domain/provider.js';

export interface ModelProviderRow {
  id: string;
  provider: Provider;
  project_id: string | null;
  base_url: string;
  created_at: Date;
  updated_at: Date;
}

const SHOWN = 'p.id, p.provider, p.project_id, p.base_url, p.created_at, p.updated_at';

/** Index: model_providers_scope_key. $1 workspace; it has at most three for each project. */
export const listModelProviders = query<ModelProviderRow>(
  'list_model_providers',
  `
SELECT ${SHOWN} FROM model_providers p WHERE p.workspace_id = $1
ORDER BY p.project_id NULLS FIRST, p.provider`,
);

/**
 * Creates or changes one. Index: model_providers_scope_key. $1 workspace, $2 id if it is new, $3
 * provider, $4 project or NULL, $5 address, $6 user.
 */
export const writeModelProvider = command<ModelProviderRow>(
  'write_model_provider',
  `
INSERT INTO model_providers AS p (workspace_id, id, provider, project_id, base_url, created_by)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (workspace_id, provider, project_id)
  DO UPDATE SET base_url = excluded.base_url, created_by = excluded.created_by, updated_at = now()
RETURNING ${SHOWN}`,
);

/** Index: model_providers_scope_key. $1 workspace, $2 provider, $3 project or NULL. */
export const deleteModelProvider = command<{ id: string }>(
  'delete_model_provider',
  `
DELETE FROM model_providers p
WHERE p.workspace_id = $1 AND p.provider = $2 AND p.project_id IS NOT DISTINCT FROM $3
RETURNING p.id`,
);

/**
 * The way of a task to a provider: that of its project, else that of the workspace. Indexes: primary
 * keys of runs and tasks, model_providers_scope_key. $1 workspace, $2 live run, $3 its agent, $4
 * provider.
 */
export const providerOfRun = query<{ id: string | null; base_url: string | null }>(
  'provider_of_run',
  `
SELECT p.id, p.base_url
FROM task_runs r JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id AND t.run_id = r.id
LEFT JOIN LATERAL (
  SELECT p.id, p.base_url FROM model_providers p
  WHERE p.workspace_id = $1 AND p.provider = $4
    AND (p.project_id IS NULL OR p.project_id = t.project_id)
  ORDER BY p.project_id NULLS LAST LIMIT 1) p ON true
WHERE r.workspace_id = $1 AND r.id = $2 AND r.agent_id = $3`,
);
