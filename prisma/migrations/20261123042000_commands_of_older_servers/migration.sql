-- While servers are upgraded one by one, those of the version before create and change tasks with a command without the
-- capability `command`, which such a task requires, and any agent would take them. Of what newer servers write the
-- condition is false, and the function is not called.
CREATE FUNCTION require_command() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  NEW.required_capabilities := ARRAY(SELECT DISTINCT c COLLATE "C" FROM unnest(NEW.required_capabilities || 'command'::text) c
    ORDER BY 1);
  -- A task that rests is kept out of the queues by a mark before its key.
  NEW.capability_key := CASE WHEN NEW.capability_key LIKE '!%' THEN '!' ELSE '' END
    || array_to_string(NEW.required_capabilities, ',');
  INSERT INTO capability_sets (workspace_id, key, capabilities)
  VALUES (NEW.workspace_id, array_to_string(NEW.required_capabilities, ','), NEW.required_capabilities)
  ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now();
  RETURN NEW;
END $$;
CREATE TRIGGER agent_tasks_require_command BEFORE INSERT ON agent_tasks
  FOR EACH ROW WHEN (NEW.input_context -> 'command' <> 'null' AND NOT 'command' = ANY (NEW.required_capabilities))
  EXECUTE FUNCTION require_command();

-- After the update, and not before it: of a table with a BEFORE UPDATE trigger for each row, Postgres 18 returns as `old`
-- what the statement's snapshot has when somebody else has changed the row meanwhile, and the journal lives on that.
CREATE FUNCTION require_command_later() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  required text[] := ARRAY(SELECT DISTINCT c COLLATE "C" FROM unnest(NEW.required_capabilities || 'command'::text) c
    ORDER BY 1);
BEGIN
  INSERT INTO capability_sets (workspace_id, key, capabilities)
  VALUES (NEW.workspace_id, array_to_string(required, ','), required)
  ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now();
  UPDATE agent_tasks SET required_capabilities = required,
    capability_key = CASE WHEN capability_key LIKE '!%' THEN '!' ELSE '' END || array_to_string(required, ',')
  WHERE workspace_id = NEW.workspace_id AND id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER agent_tasks_require_command_later AFTER UPDATE OF required_capabilities ON agent_tasks
  FOR EACH ROW WHEN (NEW.input_context -> 'command' <> 'null' AND NOT 'command' = ANY (NEW.required_capabilities))
  EXECUTE FUNCTION require_command_later();
