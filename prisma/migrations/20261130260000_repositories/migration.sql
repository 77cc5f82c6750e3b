-- Repositories on which agents work. Servers of the version before do not know them.
CREATE TABLE repositories (
  workspace_id               uuid NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
  id                         uuid NOT NULL,
  name                       text NOT NULL CHECK (name <> ''),
  -- Only tasks of this project use it. NULL: all tasks of the workspace.
  project_id                 uuid,
  -- The address of a server, or the absolute path of a folder.
  url                        text NOT NULL CHECK (url <> ''),
  default_branch             text NOT NULL DEFAULT 'main' CHECK (default_branch <> ''),
  branch_pattern             text NOT NULL DEFAULT '{agent}/{task}' CHECK (branch_pattern LIKE '%{task}%'),
  review                     text NOT NULL DEFAULT 'person' CHECK (review IN ('none', 'person', 'agent', 'both')),
  -- The coding agent that reviews, and its model.
  reviewer_kind              text,
  reviewer_model             text,
  merge_method               text NOT NULL DEFAULT 'squash' CHECK (merge_method IN ('merge', 'squash', 'rebase')),
  max_revisions              integer NOT NULL DEFAULT 3 CHECK (max_revisions BETWEEN 0 AND 100),
  protected_paths            text[] NOT NULL DEFAULT '{}',
  committer_name             text,
  committer_email            text,
  setup                      text,
  setup_timeout_seconds      integer NOT NULL DEFAULT 1800 CHECK (setup_timeout_seconds BETWEEN 1 AND 86400),
  acceptance                 text,
  acceptance_timeout_seconds integer NOT NULL DEFAULT 1800 CHECK (acceptance_timeout_seconds BETWEEN 1 AND 86400),
  variables                  jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(variables) = 'object'),
  -- repository_secrets has the values.
  secret_names               text[] NOT NULL DEFAULT '{}',
  network                    text NOT NULL DEFAULT 'none' CHECK (network IN ('none', 'allow', 'host')),
  allowed_hosts              text[] NOT NULL DEFAULT '{}',
  path                       text,
  cache_paths                text[] NOT NULL DEFAULT '{}',
  -- How a host proves who it is to the server of the repository. NULL: not at all.
  credential_kind            text CHECK (credential_kind IN ('token', 'ssh')),
  has_signing_key            boolean NOT NULL DEFAULT false,
  version                    integer NOT NULL DEFAULT 1,
  created_at                 timestamptz NOT NULL DEFAULT now(),
  updated_at                 timestamptz NOT NULL DEFAULT now(),
  archived_at                timestamptz,
  PRIMARY KEY (workspace_id, id),
  CONSTRAINT repositories_project_fkey FOREIGN KEY (workspace_id, project_id)
    REFERENCES projects (workspace_id, id) ON DELETE RESTRICT,
  CONSTRAINT repositories_committer_check CHECK ((committer_name IS NULL) = (committer_email IS NULL)),
  CONSTRAINT repositories_reviewer_check CHECK ((reviewer_kind IS NOT NULL OR review IN ('none', 'person'))
    AND (reviewer_kind IS NOT NULL OR reviewer_model IS NULL))
);
-- An archived repository frees its name.
CREATE UNIQUE INDEX repositories_name_key ON repositories (workspace_id, name) WHERE archived_at IS NULL;

-- One sealed text for each repository: its credentials, signing key and secret variables.
CREATE TABLE repository_secrets (
  workspace_id  uuid NOT NULL,
  repository_id uuid NOT NULL,
  column_name   text NOT NULL CHECK (column_name = 'secret'),
  key_id        uuid NOT NULL CONSTRAINT repository_secrets_key_fkey REFERENCES data_keys (id) ON DELETE RESTRICT,
  sealed        jsonb NOT NULL,
  unreadable_at timestamptz,
  -- As for other secrets of one value; these have no end.
  expires_at    timestamptz CHECK (expires_at IS NULL),
  PRIMARY KEY (workspace_id, repository_id, column_name),
  CONSTRAINT repository_secrets_repository_fkey FOREIGN KEY (workspace_id, repository_id)
    REFERENCES repositories (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX repository_secrets_key_idx ON repository_secrets (key_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['repositories', 'repository_secrets'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I FOR ALL TO drover_app
      USING (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))
      WITH CHECK (workspace_id = (SELECT nullif(current_setting(''app.workspace_id'', true), '''')::uuid))', name);
    EXECUTE format('CREATE POLICY service ON %I FOR ALL TO drover_service USING (true) WITH CHECK (true)', name);
  END LOOP;
END $$;

GRANT SELECT, INSERT ON repositories TO drover_app;
-- Its id stays.
GRANT UPDATE (name, project_id, url, default_branch, branch_pattern, review, reviewer_kind, reviewer_model, merge_method, max_revisions,
    protected_paths, committer_name, committer_email, setup, setup_timeout_seconds, acceptance,
    acceptance_timeout_seconds, variables, secret_names, network, allowed_hosts, path, cache_paths, credential_kind,
    has_signing_key, version, updated_at, archived_at)
  ON repositories TO drover_app;
GRANT SELECT ON repositories TO drover_service;
GRANT SELECT, INSERT, UPDATE (key_id, sealed, unreadable_at, expires_at) ON repository_secrets TO drover_app;
GRANT SELECT, UPDATE (key_id, sealed, unreadable_at) ON repository_secrets TO drover_service;
