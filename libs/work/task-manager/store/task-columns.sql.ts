import { fieldsBut, Prisma, selected } from '#lib/database';
import { sent } from '#lib/kernel';
import { redactSecrets } from '#lib/secrets';
import { HIDDEN } from '../domain/task-fields.js';
import type { TaskRow, TaskView } from '../domain/task-view.js';

/** Maximum number of ids in `blocks`, so that a task with very many dependents stays readable. */
const BLOCKS_SHOWN = 1_000;

/** The model's fields that a TaskView shows. */
export const SHOWN_FIELDS = fieldsBut(Prisma.AgentTaskScalarFieldEnum, HIDDEN);

/** The columns of TaskRow, without `dependencies`, from `agent_tasks t`. */
export const TASK_COLUMNS = `${selected('t', SHOWN_FIELDS)},
  ARRAY(SELECT g.tag FROM agent_task_tags g
    WHERE g.workspace_id = t.workspace_id AND g.task_id = t.id ORDER BY g.tag) AS tags,
  ARRAY(SELECT d.depends_on_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id
      ORDER BY d.depends_on_id) AS "dependsOn",
  CASE WHEN t.has_dependents THEN ARRAY(SELECT d.task_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.depends_on_id = t.id ORDER BY d.task_id
    LIMIT ${BLOCKS_SHOWN}) ELSE '{}' END AS blocks`;

/** The column `dependencies` of a TaskRow, for the answer with one task. */
export const DEPENDENCIES_COLUMN = `(SELECT coalesce(jsonb_agg(jsonb_build_object('taskId', d.depends_on_id,
    'policy', d.policy, 'settled', d.settled_at IS NOT NULL) ORDER BY d.depends_on_id), '[]')
  FROM task_dependencies d WHERE d.workspace_id = t.workspace_id
    AND d.task_id = t.id) AS dependencies`;

export function toTaskView(row: TaskRow): TaskView {
  return { ...sent(row), abortMessage: redactSecrets(row.abortMessage) as string | null };
}
