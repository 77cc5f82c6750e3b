-- Messages of people to the coding agents of live runs, and answers to questions for which a run waits.
CREATE TABLE run_messages (
  workspace_id uuid NOT NULL,
  id           uuid NOT NULL,
  run_id       uuid NOT NULL,
  -- The order within the run, from 1.
  sequence     integer NOT NULL CHECK (sequence > 0),
  type         text NOT NULL CHECK (type ~ '^[a-z][a-z0-9_.-]{0,49}$'),
  text         text NOT NULL CHECK (length(text) BETWEEN 1 AND 16000),
  data         jsonb CHECK (jsonb_typeof(data) = 'object'),
  deliver      text NOT NULL CHECK (deliver IN ('turn_end', 'interrupt')),
  -- The question that it answers. NULL: a message of a person.
  question_id  uuid,
  -- Such as user:<id>.
  sender       text NOT NULL,
  state        text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'undelivered')),
  sent_at      timestamptz NOT NULL DEFAULT now(),
  closed_at    timestamptz,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT run_messages_run_fkey FOREIGN KEY (workspace_id, run_id)
    REFERENCES task_runs (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT run_messages_wait_until_closed CHECK ((state = 'waiting') = (closed_at IS NULL))
);
CREATE UNIQUE INDEX run_messages_sequence_key ON run_messages (workspace_id, run_id, sequence);
CREATE INDEX run_messages_waiting_idx ON run_messages (workspace_id, run_id, sequence) WHERE state = 'waiting';

ALTER TABLE run_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE run_messages FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON run_messages FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON run_messages FOR ALL TO drover_service USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE (state, closed_at) ON run_messages TO drover_app, drover_service;

-- Whether the run stays live and waits for the answer. Only a question that ends its run is the last of its run.
ALTER TABLE questions ADD COLUMN run_waits boolean NOT NULL DEFAULT false;
ALTER TABLE questions ADD CONSTRAINT questions_of_waiting_runs_have_defaults CHECK (NOT run_waits OR on_deadline = 'default');
DROP INDEX questions_run_key;
CREATE UNIQUE INDEX questions_run_key ON questions (workspace_id, run_id) WHERE NOT run_waits;

-- Nobody hears messages of an ended run, or answers its questions.
CREATE FUNCTION close_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE run_messages m SET state = 'undelivered', closed_at = now()
  WHERE m.workspace_id = OLD.workspace_id AND m.run_id = OLD.run_id AND m.state = 'waiting';
  UPDATE questions q SET status = 'cancelled', closed_at = now()
  WHERE q.workspace_id = OLD.workspace_id AND q.task_id = OLD.id AND q.run_id = OLD.run_id
    AND q.status = 'open' AND q.run_waits;
  RETURN NULL;
END $$;
-- Only tasks with a coding agent have conversations, so the ends of other runs cost nothing.
CREATE TRIGGER agent_tasks_close_conversation AFTER UPDATE OF run_id ON agent_tasks FOR EACH ROW
  WHEN (OLD.agent IS NOT NULL AND OLD.run_id IS NOT NULL AND NEW.run_id IS DISTINCT FROM OLD.run_id)
  EXECUTE FUNCTION close_conversation();
