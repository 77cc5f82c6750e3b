-- The id of an agent is unique within its workspace. While it was unique over the installation, a registration told
-- whether some workspace uses an id, and kept it from all others.
--
-- The revocation of an agent's tokens therefore names its workspace. Servers of the version before, which run on while
-- servers are upgraded one by one, do not: but they write it in a transaction of the agent's workspace. Of other kinds
-- of revocations nobody reads the column.
ALTER TABLE token_revocations ADD COLUMN agent_workspace_id uuid;
ALTER TABLE token_revocations ALTER COLUMN agent_workspace_id
  SET DEFAULT nullif(current_setting('app.workspace_id', true), '')::uuid;

-- The owner's statement sees all workspaces for this.
ALTER TABLE agents NO FORCE ROW LEVEL SECURITY;
UPDATE token_revocations r SET agent_workspace_id = a.workspace_id FROM agents a
WHERE r.kind = 'agent' AND a.id::text = split_part(r.subject, '<', 1);
ALTER TABLE agents FORCE ROW LEVEL SECURITY;

DROP INDEX agents_id_key;
