-- What the request of an entry does not tell: the role that a group or an invitation gave.
ALTER TABLE audit_log ADD COLUMN details jsonb NOT NULL DEFAULT '{}';

-- The same with details. Servers from before pass nine arguments.
DROP FUNCTION keep_audit_entry(boolean, uuid, text, uuid, text, text, integer, text, text);
CREATE FUNCTION keep_audit_entry(
  if_changed boolean, workspace uuid, kind text, actor uuid, operation text, path text,
  status integer, request_id text, address text, details jsonb DEFAULT '{}'
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
    (workspace_id, actor_kind, actor_id, actor_name, operation, path, status, request_id, address, details)
  VALUES (workspace, kind, actor,
    CASE kind WHEN 'user' THEN (SELECT u.email FROM public.users u WHERE u.id = actor)
      ELSE (SELECT k.name FROM public.api_keys k WHERE k.workspace_id = workspace AND k.id = actor) END,
    operation, path, status, request_id, address, details);
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION keep_audit_entry(boolean, uuid, text, uuid, text, text, integer, text, text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_audit_entry(boolean, uuid, text, uuid, text, text, integer, text, text, jsonb)
  TO drover_app, drover_service;
