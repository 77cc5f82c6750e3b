/** The part of ATTEMPTS about files and prompts of runs. */
export const ARTIFACT_ATTEMPTS: Record<string, readonly (readonly [sql: string, by: string])[]> = {
  'an artifact': [
    [`UPDATE artifact_usage SET bytes = -1`, 'artifact_usage_bytes_check'],
    [
      `INSERT INTO artifact_usage (workspace_id) VALUES (uuidv7())`,
      'artifact_usage_workspace_id_fkey',
    ],
    [`UPDATE artifacts SET workspace_id = uuidv7()`, 'artifacts_workspace_id_fkey'],
    [`UPDATE artifacts SET name = ''`, 'artifacts_name_check'],
    [`UPDATE artifacts SET name = repeat('x', 501)`, 'artifacts_name_check'],
    [`UPDATE artifacts SET media_type = ''`, 'artifacts_media_type_check'],
    [`UPDATE artifacts SET size_bytes = -1`, 'artifacts_size_bytes_check'],
    [`UPDATE artifacts SET sha256 = 'x'`, 'artifacts_sha256_check'],
    [`UPDATE artifacts SET kind = 'folder'`, 'artifacts_kind_check'],
    [`UPDATE artifacts SET key_id = uuidv7()`, 'artifacts_key_check'],
    [`UPDATE artifacts SET run_id = NULL`, 'artifacts_run_check'],
    [
      `INSERT INTO artifacts (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
       SELECT workspace_id, uuidv7(), task_id, run_id, name, media_type, size_bytes, sha256 FROM artifacts`,
      'artifacts_name_key',
    ],
  ],
  'a prompt': [
    [`UPDATE prompt_templates SET template = ''`, 'prompt_templates_template_check'],
    [
      `INSERT INTO prompt_templates (workspace_id, template) VALUES (uuidv7(), 'x')`,
      'prompt_templates_workspace_id_fkey',
    ],
    [`UPDATE run_prompts SET prompt = ''`, 'run_prompts_prompt_check'],
    [`UPDATE run_prompts SET run_id = uuidv7()`, 'run_prompts_run_fkey'],
  ],
};
