-- What operators do, and every sign-in, sign-out and refusal: requests that belong to no workspace.
CREATE TABLE installation_audit_log (
  -- Has the time of the request in it, by the database's clock, in milliseconds.
  id         uuid PRIMARY KEY DEFAULT uuidv7(),
  -- The user, unless nobody was signed in.
  actor_id   uuid,
  -- The e-mail address of the user, or the address that somebody tried.
  account    text,
  operation  text NOT NULL,
  path       text NOT NULL,
  status     smallint NOT NULL,
  details    jsonb NOT NULL DEFAULT '{}',
  -- Refusals of one account and address are counted, so that a flood cannot fill the disk.
  attempts   integer NOT NULL DEFAULT 1 CHECK (attempts > 0),
  request_id text NOT NULL,
  address    text NOT NULL,
  CONSTRAINT installation_audit_log_status_is_kept CHECK (status BETWEEN 200 AND 299 OR status IN (401, 403, 429))
);
CREATE INDEX installation_audit_log_account_idx ON installation_audit_log (account, id);

-- Roles of servers add and read entries. None changes or removes one.
GRANT SELECT, INSERT ON installation_audit_log TO drover_service;
REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM drover_app, drover_service;

-- Only the owner removes entries, and only old ones.
CREATE POLICY retention ON audit_log FOR ALL TO CURRENT_USER USING (true);
CREATE FUNCTION prune_audit_logs(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
DECLARE
  oldest_kept uuid := uuidv7(make_interval(days => -greatest(days, 1)));
  of_workspaces integer;
  of_installation integer;
BEGIN
  DELETE FROM public.audit_log WHERE (workspace_id, id) IN (
    SELECT workspace_id, id FROM public.audit_log WHERE id < oldest_kept ORDER BY id LIMIT most);
  GET DIAGNOSTICS of_workspaces = ROW_COUNT;
  DELETE FROM public.installation_audit_log WHERE id IN (
    SELECT id FROM public.installation_audit_log WHERE id < oldest_kept ORDER BY id LIMIT most);
  GET DIAGNOSTICS of_installation = ROW_COUNT;
  RETURN greatest(of_workspaces, of_installation);
END $$;
REVOKE ALL ON FUNCTION prune_audit_logs(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_audit_logs(integer, integer) TO drover_service;
