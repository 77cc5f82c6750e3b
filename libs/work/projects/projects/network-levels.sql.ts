import { type Network, type Reach, reachOf, strictestReach } from '#lib/kernel';

/** The network and the allowed hosts of the workspace, then those of the project. */
export type NetworkLevels = readonly (readonly [Network, readonly string[]])[];

/**
 * SQL: the NetworkLevels of a workspace and of a project, which can be NULL, as JSON; NULL if the
 * workspace has `none`. Index: primary keys; with `none` only that of the workspace, once a
 * statement.
 */
export function networkLevels(workspace: string, project: string): string {
  return `CASE WHEN (SELECT w.network FROM workspaces w WHERE w.id = ${workspace}) <> 'none' THEN (
    SELECT jsonb_build_array(jsonb_build_array(w.network, w.allowed_hosts)) ||
      CASE WHEN ${project} IS NULL THEN '[]' ELSE (
        SELECT jsonb_build_array(jsonb_build_array(p.network, p.allowed_hosts)) FROM projects p
        WHERE p.workspace_id = ${workspace} AND p.id = ${project}) END
    FROM workspaces w WHERE w.id = ${workspace}) END`;
}

/** The reach that workspace and project allow together. */
export function reachOfLevels(levels: NetworkLevels | null): Reach {
  if (levels === null) return reachOf('none', []);
  return strictestReach(...levels.map(([network, hosts]) => reachOf(network, hosts)));
}
