-- The coding agent that executes a task, and its brief. Servers of the version before create tasks without them.
ALTER TABLE agent_tasks
  ADD COLUMN agent jsonb CONSTRAINT agent_tasks_agent_check 
    CHECK (agent IS NULL OR coalesce(jsonb_typeof(agent -> 'kind') = 'string', false)),
  ADD COLUMN instructions text,
  ADD COLUMN steps text[] NOT NULL DEFAULT '{}',
  ADD COLUMN deliverables text[] NOT NULL DEFAULT '{}',
  ADD COLUMN acceptance text[] NOT NULL DEFAULT '{}';

-- Texts of people can contain secrets.
ALTER TABLE task_secrets DROP CONSTRAINT task_secrets_column_name_check;
ALTER TABLE task_secrets ADD CONSTRAINT task_secrets_column_name_check CHECK (column_name IN
  ('title', 'description', 'input_context', 'checkpoint_data', 'output_result', 'metadata', 'secrets', 'answers',
   'agent', 'instructions', 'steps', 'deliverables', 'acceptance'));
