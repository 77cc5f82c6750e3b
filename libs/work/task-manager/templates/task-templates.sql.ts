import { command, query } from '#lib/database';
import type { ColumnOfTaskTemplate, Original } from '#lib/secrets';
import type { TaskTemplate } from '../domain/template.js';
import { bytesOf, cutPage } from '../store/page-bytes.sql.js';

/** A template as its list shows it. */
export interface ListedTemplateRow {
  id: string;
  name: string;
  description: string | null;
  task: TaskTemplate;
  created_by: string;
  version: number;
  created_at: Date;
  updated_at: Date;
}

/** A template of a page. */
export interface TemplateOfPage extends ListedTemplateRow {
  /** True if there are more, which would be too large together. */
  cut: boolean;
}

export interface TemplateRow extends ListedTemplateRow {
  /** The sealed task, if it has secrets. */
  original: Original<ColumnOfTaskTemplate> | null;
}

const COLUMNS = `t.id, t.name, t.description, t.task, t.created_by, t.version, t.created_at, t.updated_at`;

/** Serialises the creation of templates in a workspace until the transaction ends. $1 workspace. */
export const lockTaskTemplates = query<never>(
  'lock_task_templates',
  `SELECT pg_advisory_xact_lock(hashtextextended('task templates of ' || $1::text, 0))`,
);

/**
 * No row means that the workspace has the maximum number. Under the lock of lockTaskTemplates. Index:
 * primary key; counting 1,000 templates takes 0.2 ms. $1 workspace, $2 id, $3 name, $4 description,
 * $5 task, $6 user, $7 maximum number of templates.
 */
export const insertTaskTemplate = command<{ id: string }>(
  'insert_task_template',
  `
INSERT INTO task_templates (workspace_id, id, name, description, task, created_by)
SELECT $1, $2, $3, $4, $5::jsonb, $6::uuid
WHERE (SELECT count(*) FROM task_templates WHERE workspace_id = $1) < $7::int
RETURNING id`,
);

/** Indexes: primary keys. $1 workspace, $2 template. */
export const findTaskTemplate = query<TemplateRow>(
  'find_task_template',
  `
SELECT ${COLUMNS}, (SELECT to_jsonb(o) FROM task_template_secrets o
  WHERE o.workspace_id = t.workspace_id AND o.template_id = t.id) AS original
FROM task_templates t WHERE t.workspace_id = $1 AND t.id = $2`,
);

/** Index: primary key. $1 workspace, $2 template. */
export const lockTaskTemplate = query<{ id: string }>(
  'lock_task_template',
  `SELECT t.id FROM task_templates t WHERE t.workspace_id = $1 AND t.id = $2 FOR NO KEY UPDATE`,
);

/**
 * Newest first, cut where the page grows too large. Indexes: primary key, task_templates_name_key with a name. $1 workspace, $2 last id
 * of the previous page or NULL, $3 maximum number of rows, $4 name or NULL.
 */
export const listTaskTemplates = query<TemplateOfPage>(
  'list_task_templates',
  `
WITH found AS MATERIALIZED (
  SELECT t.id, ${bytesOf('t.task')} AS bytes FROM task_templates t
  WHERE t.workspace_id = $1 AND ($2::uuid IS NULL OR t.id < $2) AND ($4::text IS NULL OR t.name = $4)
  ORDER BY t.id DESC LIMIT $3
),
${cutPage('DESC')}
SELECT page.cut, ${COLUMNS} FROM page JOIN task_templates t ON t.workspace_id = $1 AND t.id = page.id
ORDER BY t.id DESC`,
);

/** After lockTaskTemplate. $1 workspace, $2 template, $3 name, $4 description, $5 task. */
export const changeTaskTemplate = command<{ id: string }>(
  'change_task_template',
  `
UPDATE task_templates SET name = $3, description = $4, task = $5::jsonb, version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = $2
RETURNING id`,
);

/** Includes its secrets. $1 workspace, $2 template. */
export const deleteTaskTemplate = command<{ id: string }>(
  'delete_task_template',
  `DELETE FROM task_templates WHERE workspace_id = $1 AND id = $2 RETURNING id`,
);
