import { command, query } from '#lib/database';

export interface TemplateRow {
  template: string;
  updated_at: Date;
}

/** The template of a workspace, if it has its own. Index: primary key. $1 workspace. */
export const readPromptTemplate = query<TemplateRow>(
  'read_prompt_template',
  `SELECT template, updated_at FROM prompt_templates WHERE workspace_id = $1`,
);

/** Index: primary key. $1 workspace, $2 template. */
export const writePromptTemplate = command<TemplateRow>(
  'write_prompt_template',
  `
INSERT INTO prompt_templates (workspace_id, template) VALUES ($1, $2)
ON CONFLICT (workspace_id) DO UPDATE SET template = excluded.template, updated_at = now()
RETURNING template, updated_at`,
);

/** Index: primary key. $1 workspace. */
export const deletePromptTemplate = command<{ workspace_id: string }>(
  'delete_prompt_template',
  `DELETE FROM prompt_templates WHERE workspace_id = $1 RETURNING workspace_id`,
);
