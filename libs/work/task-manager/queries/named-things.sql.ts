import { query } from '#lib/database';

export interface NamedThings {
  agent: boolean;
  project: boolean;
  milestone: boolean;
  parent: boolean;
}

/**
 * Tells for each object of a filter whether it exists. An absent object counts as existing.
 *
 * Runs before tasks are listed or commanded by such a filter. Indexes: primary keys. $1 workspace,
 * $2 agent or NULL, $3 project or NULL, $4 milestone or NULL, $5 parent task or NULL.
 */
export const namedThings = query<NamedThings>(
  'named_things',
  `
SELECT
  $2::uuid IS NULL OR EXISTS (SELECT FROM agents WHERE workspace_id = $1 AND id = $2) AS agent,
  $3::uuid IS NULL OR EXISTS (SELECT FROM projects WHERE workspace_id = $1 AND id = $3) AS project,
  $4::uuid IS NULL OR EXISTS (SELECT FROM milestones
    WHERE workspace_id = $1 AND id = $4) AS milestone,
  $5::uuid IS NULL OR EXISTS (SELECT FROM agent_tasks
    WHERE workspace_id = $1 AND id = $5) AS parent`,
);

/**
 * The ids without a task in the workspace.
 *
 * Before a bulk command. Index: primary key. $1 workspace, $2 ids.
 */
export const unknownTasks = query<{ id: string }>(
  'unknown_tasks',
  `
SELECT asked.id FROM unnest($2::uuid[]) AS asked (id)
WHERE NOT EXISTS (SELECT FROM agent_tasks t WHERE t.workspace_id = $1 AND t.id = asked.id)`,
);
