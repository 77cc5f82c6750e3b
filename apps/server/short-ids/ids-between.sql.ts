import { query, type Sql } from '#lib/database';
import { MAX_CANDIDATES } from '#lib/http';

/**
 * The first ids of the workspace $1 from $2 to $3.
 *
 * Index: the primary key of each table. Measured with 100,000 tasks in each of two workspaces,
 * as drover_app: 0.1 ms for no match, one and all.
 */
const idsIn = (name: string, table: string): Sql<{ id: string }> =>
  query<{ id: string }>(
    name,
    `
SELECT id FROM ${table}
WHERE workspace_id = $1 AND id BETWEEN $2::uuid AND $3::uuid
ORDER BY id
LIMIT ${MAX_CANDIDATES + 1}`,
  );

const tasks = idsIn('short_ids_tasks', 'agent_tasks');

/**
 * The statements by the word of the path before an id. The id of a dependency or a change is that
 * of its task. Ids of other collections are always whole.
 */
export const IDS_BETWEEN: Readonly<Record<string, Sql<{ id: string }>>> = {
  'agent-tasks': tasks,
  dependencies: tasks,
  changes: tasks,
  runs: idsIn('short_ids_runs', 'task_runs'),
  agents: idsIn('short_ids_agents', 'agents'),
  projects: idsIn('short_ids_projects', 'projects'),
  milestones: idsIn('short_ids_milestones', 'milestones'),
  budgets: idsIn('short_ids_budgets', 'usage_budgets'),
  questions: idsIn('short_ids_questions', 'questions'),
  repositories: idsIn('short_ids_repositories', 'repositories'),
  'task-templates': idsIn('short_ids_task_templates', 'task_templates'),
  schedules: idsIn('short_ids_schedules', 'schedules'),
  webhooks: idsIn('short_ids_webhooks', 'webhooks'),
  'inbound-hooks': idsIn('short_ids_inbound_hooks', 'inbound_hooks'),
};
