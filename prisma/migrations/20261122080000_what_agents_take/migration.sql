-- Agents that take tasks of certain types only (none named: of all), and agents kept for tasks that require certain
-- capabilities. As with capabilities, the API bounds what they may hold.
ALTER TABLE agents
  ADD COLUMN task_types text[] NOT NULL DEFAULT '{}',
  ADD COLUMN dedicated_to text[] NOT NULL DEFAULT '{}';

-- The owner's statements see all workspaces for this.
ALTER TABLE agents NO FORCE ROW LEVEL SECURITY;
ALTER TABLE agent_tasks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE capability_sets NO FORCE ROW LEVEL SECURITY;

-- A task with a command needs an agent that executes commands: the capability `command`, which tasks created from
-- now on require by themselves. Pull agents that take tasks with commands today go on doing so.
UPDATE agents SET capabilities = ARRAY(SELECT c FROM unnest(capabilities || 'command'::text) c GROUP BY c ORDER BY c COLLATE "C")
WHERE mode = 'pull' AND NOT 'command' = ANY(capabilities);

CREATE TEMPORARY TABLE with_command ON COMMIT DROP AS
SELECT workspace_id, id, capabilities, array_to_string(capabilities, ',') AS key
FROM (
  SELECT workspace_id, id,
    ARRAY(SELECT c FROM unnest(required_capabilities || 'command'::text) c GROUP BY c ORDER BY c COLLATE "C") AS capabilities
  FROM agent_tasks
  WHERE status <> 'ARCHIVED' AND input_context -> 'command' <> 'null' AND NOT 'command' = ANY(required_capabilities)) t;

INSERT INTO capability_sets (workspace_id, key, capabilities)
SELECT DISTINCT ON (workspace_id, key) workspace_id, key, capabilities FROM with_command
ON CONFLICT (workspace_id, key) DO UPDATE SET used_at = now();

UPDATE agent_tasks t SET required_capabilities = w.capabilities,
  -- A task that rests is kept out of the queues by a mark before its key.
  capability_key = CASE WHEN t.capability_key LIKE '!%' THEN '!' ELSE '' END || w.key
FROM with_command w WHERE t.workspace_id = w.workspace_id AND t.id = w.id;

ALTER TABLE agents FORCE ROW LEVEL SECURITY;
ALTER TABLE agent_tasks FORCE ROW LEVEL SECURITY;
ALTER TABLE capability_sets FORCE ROW LEVEL SECURITY;
