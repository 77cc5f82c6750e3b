-- The transaction of a change writes the audit entry too. It runs as either role of a server, and
-- neither can read every actor: an operator is no member, and a member can have left by then.
CREATE POLICY audit ON users FOR SELECT TO CURRENT_USER USING (true);
CREATE POLICY audit ON api_keys FOR SELECT TO CURRENT_USER USING (true);

-- Adds an entry, and tells whether it did. With if_changed it adds none in a transaction that has
-- written nothing, because such a request was refused.
CREATE FUNCTION keep_audit_entry(
  if_changed boolean, workspace uuid, kind text, actor uuid, operation text, path text,
  status integer, request_id text, address text
) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN
  IF if_changed AND pg_current_xact_id_if_assigned() IS NULL THEN
    RETURN false;
  END IF;
  IF session_user = 'drover_app'
     AND workspace IS DISTINCT FROM nullif(current_setting('app.workspace_id', true), '')::uuid THEN
    RAISE insufficient_privilege USING MESSAGE = 'an audit entry of another workspace';
  END IF;
  INSERT INTO public.audit_log
    (workspace_id, actor_kind, actor_id, actor_name, operation, path, status, request_id, address)
  VALUES (workspace, kind, actor,
    CASE kind WHEN 'user' THEN (SELECT u.email FROM public.users u WHERE u.id = actor)
      ELSE (SELECT k.name FROM public.api_keys k WHERE k.workspace_id = workspace AND k.id = actor) END,
    operation, path, status, request_id, address);
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION keep_audit_entry(boolean, uuid, text, uuid, text, text, integer, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_audit_entry(boolean, uuid, text, uuid, text, text, integer, text, text)
  TO drover_app, drover_service;
