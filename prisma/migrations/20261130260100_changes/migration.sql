-- Changes: what tasks make in repositories, from the first run to the merge. Servers of the version before create none.
CREATE TABLE changes (
  workspace_id         uuid NOT NULL,
  -- Its own id as well.
  task_id              uuid NOT NULL,
  repository_id        uuid NOT NULL,
  state                text NOT NULL DEFAULT 'WORKING'
                       CHECK (state IN ('WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED', 'MERGED', 'FAILED', 'CLOSED')),
  version              integer NOT NULL DEFAULT 1,
  target               text NOT NULL CHECK (target <> ''),
  -- NULL until its first run.
  branch               text,
  -- The submitted commit, and the commit of the target on which it stands.
  base_commit          text,
  head_commit          text,
  -- The commit on the target that it became.
  merged_commit        text,
  -- The commits that hosts were about to push to the target for this head, each recorded before its push.
  landing_commits      text[] NOT NULL DEFAULT '{}',
  -- The run that submitted last.
  run_id               uuid,
  -- The number of its submissions.
  revision             integer NOT NULL DEFAULT 0,
  -- How often it went back to work since a person last had a say. The repository's limit applies to it.
  unattended_revisions integer NOT NULL DEFAULT 0,
  files_changed        integer,
  insertions           integer,
  deletions            integer,
  -- Such as user:<id>; NULL: nobody had to.
  approved_by          text,
  -- The agent's task that reviews it.
  review_task_id       uuid,
  -- Why it does not go on, in words for people.
  obstacle             text,
  -- The work of a host that is due: acceptance, rebase and merge, or removal of its branch.
  step                 text CHECK (step IN ('prove', 'land', 'remove')),
  step_generation      integer NOT NULL DEFAULT 0,
  step_agent_id        uuid,
  step_until           timestamptz,
  -- Infinity: nobody takes it until a person asks.
  step_due_at          timestamptz,
  step_attempts        integer NOT NULL DEFAULT 0,
  created_at           timestamptz NOT NULL DEFAULT now(),
  updated_at           timestamptz NOT NULL DEFAULT now(),
  submitted_at         timestamptz,
  review_due_at        timestamptz,
  approved_at          timestamptz,
  merged_at            timestamptz,
  closed_at            timestamptz,
  PRIMARY KEY (workspace_id, task_id),
  CONSTRAINT changes_task_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT changes_repository_fkey FOREIGN KEY (workspace_id, repository_id)
    REFERENCES repositories (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT changes_steps_are_due CHECK ((step IS NULL) = (step_due_at IS NULL)),
  CONSTRAINT changes_steps_have_leases CHECK ((step_agent_id IS NULL) = (step_until IS NULL)
    AND (step IS NOT NULL OR step_agent_id IS NULL)),
  CONSTRAINT changes_steps_of_states CHECK (CASE state
    WHEN 'PROVING' THEN step IS NOT DISTINCT FROM 'prove'
    WHEN 'APPROVED' THEN step IS NOT DISTINCT FROM 'land'
    WHEN 'MERGED' THEN coalesce(step, 'remove') = 'remove'
    WHEN 'CLOSED' THEN coalesce(step, 'remove') = 'remove'
    ELSE step IS NULL END)
);
CREATE INDEX changes_state_idx ON changes (workspace_id, state, task_id);
CREATE INDEX changes_repository_idx ON changes (workspace_id, repository_id, task_id);
CREATE INDEX changes_step_idx ON changes (workspace_id, step_due_at) WHERE step IS NOT NULL;
CREATE INDEX changes_review_due_idx ON changes (review_due_at) WHERE review_due_at IS NOT NULL;
-- One change lands on a branch at a time.
CREATE UNIQUE INDEX changes_landing_key ON changes (workspace_id, repository_id, target)
  WHERE step = 'land' AND step_agent_id IS NOT NULL;

-- Proofs, reviews and conflicts of a change, in their order.
CREATE TABLE change_reviews (
  workspace_id uuid NOT NULL,
  id           uuid NOT NULL,
  task_id      uuid NOT NULL,
  revision     integer NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('proof', 'review', 'rebase')),
  verdict      text NOT NULL
               CHECK (verdict IN ('green', 'red', 'approved', 'changes_requested', 'commented', 'conflict')),
  -- The commit that it is about.
  commit_id    text,
  -- Such as user:<id>.
  author       text NOT NULL,
  body         text NOT NULL DEFAULT '',
  -- [{path, line, side, text}]
  comments     jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(comments) = 'array'),
  exit_code    integer,
  duration_ms  integer,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT change_reviews_change_fkey FOREIGN KEY (workspace_id, task_id)
    REFERENCES changes (workspace_id, task_id) ON DELETE RESTRICT
);
CREATE INDEX change_reviews_change_idx ON change_reviews (workspace_id, task_id, id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['changes', 'change_reviews'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT ON changes, change_reviews TO drover_app;
GRANT SELECT ON changes, change_reviews TO drover_service;
GRANT UPDATE (state, version, branch, base_commit, head_commit, merged_commit, landing_commits, run_id, revision,
    unattended_revisions, files_changed, insertions, deletions, approved_by, review_task_id, obstacle, step,
    step_generation, step_agent_id, step_until, step_due_at, step_attempts, updated_at, submitted_at, review_due_at,
    approved_at, merged_at, closed_at)
  ON changes TO drover_app, drover_service;

CREATE OR REPLACE FUNCTION is_journal_event(event text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN split_part(event, '.', 1) IN ('task', 'run', 'agent', 'question', 'change', 'budget', 'coordinator');
END $$;
