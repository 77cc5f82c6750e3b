-- Sessions with `allow` reach the hosts of these lists through a proxy. Servers of the version before leave them empty,
-- and read `allow` as `none`.
CREATE DOMAIN host_list AS text[]
  CHECK (cardinality(VALUE) <= 100 AND array_position(VALUE, NULL) IS NULL);
ALTER TABLE workspaces ADD COLUMN allowed_hosts host_list NOT NULL DEFAULT '{}',
  DROP CONSTRAINT workspaces_network_check,
  ADD CONSTRAINT workspaces_network_check CHECK (network IN ('none', 'allow', 'host'));
ALTER TABLE projects ADD COLUMN allowed_hosts host_list NOT NULL DEFAULT '{}',
  DROP CONSTRAINT projects_network_check,
  ADD CONSTRAINT projects_network_check CHECK (network IN ('none', 'allow', 'host'));
