import { command, query } from '#lib/database';

export interface TemplateRow {
  template: string;
  updated_at: Date;
  version: number;
}

const COLUMNS = 'template, updated_at, version';

/** The template of a workspace, if it has its own. Index: primary key. $1 workspace. */
export const readPromptTemplate = query<TemplateRow>(
  'read_prompt_template',
  `SELECT ${COLUMNS} FROM prompt_templates WHERE workspace_id = $1`,
);

/**
 * Returns no row if the version is not the expected one. The row that is proposed has the next
 * version. Index: primary key. $1 workspace, $2 template, $3 expected version or NULL; 0: no own
 * template.
 */
export const writePromptTemplate = command<TemplateRow>(
  'write_prompt_template',
  `
INSERT INTO prompt_templates AS t (workspace_id, template)
SELECT $1, $2
WHERE coalesce($3::int, 0) IN (0, (SELECT version FROM prompt_templates WHERE workspace_id = $1))
ON CONFLICT (workspace_id) DO UPDATE SET template = excluded.template, version = excluded.version,
  updated_at = now()
WHERE $3::int IS NULL OR t.version = $3
RETURNING ${COLUMNS}`,
);

/** Index: primary key. $1 workspace, $2 expected version or NULL. */
export const deletePromptTemplate = command<{ workspace_id: string }>(
  'delete_prompt_template',
  `
DELETE FROM prompt_templates WHERE workspace_id = $1 AND ($2::int IS NULL OR version = $2)
RETURNING workspace_id`,
);
