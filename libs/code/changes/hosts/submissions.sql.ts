import { command, query } from '#lib/database';
import { CHANGE_COLUMNS, type ChangeRow } from '../store/changes.sql.js';

/** The change of a run's task. Its members are null if the task changes no repository. */
export type ChangeOfRun = (ChangeRow | { [Name in keyof ChangeRow]: null }) & {
  is_live: boolean;
  branch_pattern: string | null;
  agent: string;
  /** The project of its task. */
  project_id: string | null;
};

/**
 * The change of a run's task, and what its branch is named by. Indexes: primary keys. $1 workspace,
 * $2 run, $3 its agent.
 */
export const changeOfRun = query<ChangeOfRun>(
  'change_of_run',
  `
SELECT ${CHANGE_COLUMNS}, t.run_id IS NOT DISTINCT FROM u.id AS is_live, r.branch_pattern,
  coalesce(t.agent ->> 'kind', a.name) AS agent, t.project_id
FROM task_runs u
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = u.task_id
JOIN agents a ON a.workspace_id = $1 AND a.id = u.agent_id
LEFT JOIN changes c ON c.workspace_id = $1 AND c.task_id = t.id AND t.repository_id IS NOT NULL
LEFT JOIN repositories r ON r.workspace_id = $1 AND r.id = c.repository_id
WHERE u.workspace_id = $1 AND u.id = $2 AND u.agent_id = $3`,
);

/** Names the branch of a change once. Index: primary key. $1 workspace, $2 change, $3 branch. */
export const nameBranch = command<{ branch: string }>(
  'name_branch',
  `
UPDATE changes c SET branch = coalesce(c.branch, $3), updated_at = now()
WHERE c.workspace_id = $1 AND c.task_id = $2
RETURNING c.branch`,
);
