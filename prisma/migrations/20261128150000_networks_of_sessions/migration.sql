-- The most that sessions of a workspace or project can get. Servers of the version before leave it as it is: `none`.
ALTER TABLE workspaces ADD COLUMN network text NOT NULL DEFAULT 'none'
  CONSTRAINT workspaces_network_check CHECK (network IN ('none', 'host'));
ALTER TABLE projects ADD COLUMN network text NOT NULL DEFAULT 'none'
  CONSTRAINT projects_network_check CHECK (network IN ('none', 'host'));
