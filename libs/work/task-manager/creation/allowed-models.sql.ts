import { query } from '#lib/database';

export interface AllowedModelsRow {
  workspace: string[];
  /** The lists by project; NULL without one. */
  projects: Record<string, string[]> | null;
}

/**
 * The allowed models of a workspace and of projects.
 *
 * Before tasks with the model of a coding agent are added to them. Indexes: primary keys.
 * $1 workspace, $2 ids of projects.
 */
export const allowedModels = query<AllowedModelsRow>(
  'allowed_models',
  `
SELECT w.allowed_models AS workspace,
  (SELECT jsonb_object_agg(p.id, to_jsonb(p.allowed_models)) FROM projects p
    WHERE p.workspace_id = $1 AND p.id = ANY($2::uuid[])) AS projects
FROM workspaces w WHERE w.id = $1`,
);
