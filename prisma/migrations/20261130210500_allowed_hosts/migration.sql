-- Sessions with `allow` reach the hosts of these lists through a proxy. Servers of the version before leave them empty,
-- and read `allow` as `none`.
ALTER TABLE workspaces ADD COLUMN allowed_hosts text[] NOT NULL DEFAULT '{}'
  CONSTRAINT workspaces_allowed_hosts_check
  CHECK (cardinality(allowed_hosts) <= 100 AND array_position(allowed_hosts, NULL) IS NULL),
  DROP CONSTRAINT workspaces_network_check,
  ADD CONSTRAINT workspaces_network_check CHECK (network IN ('none', 'allow', 'host'));
ALTER TABLE projects ADD COLUMN allowed_hosts text[] NOT NULL DEFAULT '{}'
  CONSTRAINT projects_allowed_hosts_check
  CHECK (cardinality(allowed_hosts) <= 100 AND array_position(allowed_hosts, NULL) IS NULL),
  DROP CONSTRAINT projects_network_check,
  ADD CONSTRAINT projects_network_check CHECK (network IN ('none', 'allow', 'host'));
