import { query, type Sql } from '#lib/database';
import type { TaskFilter } from '../domain/task-filter.js';
import { Params, taskConditions } from '../store/task-conditions.sql.js';

/**
 * The ids of the tasks that match a filter and are older than an id, oldest first, for a bulk command.
 *
 * Indexes: as in listTasks. The text depends on the filters, so it has no name.
 */
export function matchingIds(
  workspaceId: string,
  filter: TaskFilter,
  page: { after: string | null; before: string; limit: number },
): { sql: Sql<{ id: string }>; params: unknown[] } {
  const params = new Params();
  const conditions = [
    `t.workspace_id = ${params.add(workspaceId)}`,
    `t.id < ${params.add(page.before)}::uuid`,
  ];
  if (page.after !== null) conditions.push(`t.id > ${params.add(page.after)}::uuid`);
  conditions.push(...taskConditions(filter, params));
  const text = `
SELECT t.id FROM agent_tasks t
WHERE ${conditions.join('\n  AND ')}
ORDER BY t.id
LIMIT ${params.add(page.limit)}`;
  return { sql: query('', text), params: params.values };
}
