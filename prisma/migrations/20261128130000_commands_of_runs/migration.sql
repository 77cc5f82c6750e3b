-- Whether the program of a run can have workers of the workspace execute commands.
ALTER TABLE workspaces ADD COLUMN allow_run_commands boolean NOT NULL DEFAULT false;
