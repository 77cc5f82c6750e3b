-- The kind of a task of the type `command`, by its command: estimates look at tasks of the same command. NULL: its kind is
-- its type. Servers of the version before create tasks without it, of which estimates learn nothing.
ALTER TABLE agent_tasks ADD COLUMN command_kind text;

-- The latest completed tasks of a command, as agent_tasks_history_idx has those of a type. Others wait to write tasks while
-- the table is read.
CREATE INDEX agent_tasks_command_history_idx ON agent_tasks (workspace_id, command_kind, completed_at)
  WHERE command_kind IS NOT NULL AND completed_at IS NOT NULL;
