-- Requests of coding agents ask a model that both lists allow. Servers of the version before leave them at `*`, which
-- allows every model.
CREATE DOMAIN model_list AS text[]
  CHECK (cardinality(VALUE) <= 50 AND array_position(VALUE, NULL) IS NULL);
ALTER TABLE workspaces ADD COLUMN allowed_models model_list NOT NULL DEFAULT '{*}';
ALTER TABLE projects ADD COLUMN allowed_models model_list NOT NULL DEFAULT '{*}';
