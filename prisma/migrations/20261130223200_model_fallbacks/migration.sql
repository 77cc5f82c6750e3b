-- The models that answer if the provider refuses one: a list of {model, models}. Servers of the version before leave it.
ALTER TABLE model_routing ADD COLUMN fallbacks jsonb NOT NULL DEFAULT '[]'
  CHECK (jsonb_typeof(fallbacks) = 'array');
