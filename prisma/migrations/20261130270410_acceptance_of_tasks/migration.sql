-- The commands that prove what a task without a repository made. Servers of the version before create tasks without them.
ALTER TABLE agent_tasks ADD COLUMN acceptance_script text,
  ADD CONSTRAINT agent_tasks_acceptance_script_check
    CHECK (acceptance_script IS NULL OR acceptance_script <> '' AND repository_id IS NULL) NOT VALID;

-- Texts of people can contain secrets.
ALTER TABLE task_secrets DROP CONSTRAINT task_secrets_column_name_check;
ALTER TABLE task_secrets ADD CONSTRAINT task_secrets_column_name_check CHECK (column_name IN
  ('title', 'description', 'input_context', 'checkpoint_data', 'output_result', 'metadata', 'secrets', 'answers',
   'agent', 'instructions', 'steps', 'deliverables', 'acceptance', 'acceptance_script'));
