-- Questions of runs to people: their tasks rest, PAUSED, until there is an answer.

CREATE TABLE questions (
  workspace_id   uuid NOT NULL,
  id             uuid NOT NULL,
  task_id        uuid NOT NULL,
  -- The run that asked, which ended with it, and its agent.
  run_id         uuid NOT NULL,
  agent_id       uuid NOT NULL,
  prompt         text NOT NULL CHECK (length(prompt) BETWEEN 1 AND 4000),
  -- Empty: any text will do.
  choices        text[] NOT NULL DEFAULT '{}' CHECK (cardinality(choices) <= 20),
  -- Whether an answer may be something else than a choice.
  free_text      boolean NOT NULL,
  asked_at       timestamptz NOT NULL DEFAULT now(),
  deadline_at    timestamptz NOT NULL,
  on_deadline    text NOT NULL CHECK (on_deadline IN ('default', 'fail')),
  default_answer text CHECK (length(default_answer) BETWEEN 1 AND 4000),
  status         text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'answered', 'expired', 'cancelled')),
  -- As everybody may see it.
  answer         text,
  -- Such as user:<id>; NULL: nobody did.
  answered_by    text,
  closed_at      timestamptz,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT questions_task_fkey FOREIGN KEY (workspace_id, task_id) REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT questions_have_answers CHECK (free_text OR choices <> '{}'),
  CONSTRAINT questions_default_is_there CHECK (on_deadline = 'fail' OR default_answer IS NOT NULL),
  CONSTRAINT questions_open_until_closed CHECK ((status = 'open') = (closed_at IS NULL)),
  CONSTRAINT questions_answered_by_somebody CHECK ((status = 'answered') = (answered_by IS NOT NULL)),
  CONSTRAINT questions_answer_is_there CHECK (status <> 'answered' OR answer IS NOT NULL)
);
-- One a run.
CREATE UNIQUE INDEX questions_run_key ON questions (workspace_id, run_id);
CREATE INDEX questions_task_idx ON questions (workspace_id, task_id, id);
-- One open one a task.
CREATE UNIQUE INDEX questions_open_key ON questions (workspace_id, task_id) WHERE status = 'open';
CREATE INDEX questions_urgent_idx ON questions (workspace_id, deadline_at, id) WHERE status = 'open';
CREATE INDEX questions_due_idx ON questions (deadline_at) WHERE status = 'open';

ALTER TABLE questions ENABLE ROW LEVEL SECURITY;
ALTER TABLE questions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON questions FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON questions FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE (status, answer, answered_by, closed_at) ON questions TO drover_app;
GRANT SELECT, UPDATE (status, answer, answered_by, closed_at) ON questions TO drover_service;

-- The latest answers to its questions, which its next run receives. Their secrets are in task_secrets.
ALTER TABLE agent_tasks ADD COLUMN answers jsonb;
ALTER TABLE task_secrets DROP CONSTRAINT task_secrets_column_name_check;
ALTER TABLE task_secrets ADD CONSTRAINT task_secrets_column_name_check CHECK (column_name IN
  ('title', 'description', 'input_context', 'checkpoint_data', 'output_result', 'metadata', 'secrets', 'answers'));
-- The coordinator adds defaults to answers that hold secrets.
GRANT INSERT ON task_secrets TO drover_service;

-- Tasks whose run has asked a question rest as PAUSED by it. A task that leaves that rest for something else than an
-- answer, whoever moves it, needs none any more.
CREATE FUNCTION cancel_open_question() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE questions q SET status = 'cancelled', closed_at = now()
  WHERE q.workspace_id = NEW.workspace_id AND q.task_id = NEW.id AND q.status = 'open';
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tasks_cancel_open_question AFTER UPDATE OF status ON agent_tasks FOR EACH ROW
  WHEN (OLD.status = 'PAUSED' AND NEW.status <> 'PAUSED' AND (OLD.paused_by LIKE 'run:%' OR OLD.paused_by LIKE 'agent:%'))
  EXECUTE FUNCTION cancel_open_question();

CREATE OR REPLACE FUNCTION is_journal_event(event text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN split_part(event, '.', 1) IN ('task', 'run', 'agent', 'question', 'budget', 'coordinator');
END $$;
