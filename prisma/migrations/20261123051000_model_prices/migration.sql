-- Prices of models, which model a workspace's tasks are given, and the model of each run.

-- NaN is more than any number.
CREATE DOMAIN usd_price AS numeric(12, 6) CHECK (VALUE >= 0 AND VALUE < 'NaN');

-- In USD per million tokens, from a time on until the model's next price. Of the whole installation.
-- A row is never changed: what it says of times that have passed is in bills.
CREATE TABLE model_prices (
  model           varchar(100) NOT NULL CHECK (length(model) >= 1),
  effective_from  timestamptz NOT NULL,
  tier            text NOT NULL CHECK (tier IN ('haiku', 'sonnet', 'opus')),
  input_usd       usd_price NOT NULL,
  output_usd      usd_price NOT NULL,
  cache_read_usd  usd_price NOT NULL,
  cache_write_usd usd_price NOT NULL,
  -- NULL: it came with the installation.
  created_by      uuid REFERENCES users (id) ON DELETE RESTRICT,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (model, effective_from)
);

-- Anthropic: a read of the cache costs a tenth of the input, a write of five minutes a quarter more than it.
INSERT INTO model_prices (model, effective_from, tier, input_usd, output_usd, cache_read_usd, cache_write_usd)
SELECT model, '2025-01-01T00:00:00Z', tier, input, output, input * 0.1, input * 1.25
FROM (VALUES
  ('claude-3-haiku',    'haiku',   0.25,  1.25),
  ('claude-3-5-haiku',  'haiku',   0.80,  4.00),
  ('claude-haiku-3.5',  'haiku',   0.80,  4.00),
  ('claude-haiku-4-5',  'haiku',   1.00,  5.00),
  ('claude-3-sonnet',   'sonnet',  3.00, 15.00),
  ('claude-3-5-sonnet', 'sonnet',  3.00, 15.00),
  ('claude-3-7-sonnet', 'sonnet',  3.00, 15.00),
  ('claude-sonnet-4',   'sonnet',  3.00, 15.00),
  ('claude-sonnet-4-5', 'sonnet',  3.00, 15.00),
  ('claude-sonnet-4-6', 'sonnet',  3.00, 15.00),
  ('claude-3-opus',     'opus',   15.00, 75.00),
  ('claude-opus-4',     'opus',   15.00, 75.00),
  ('claude-opus-4-1',   'opus',   15.00, 75.00),
  ('claude-opus-4-5',   'opus',    5.00, 25.00),
  ('claude-opus-4-6',   'opus',    5.00, 25.00)
) AS anthropic (model, tier, input, output);

-- OpenAI and Google ask for the input's price where they write a cache.
INSERT INTO model_prices (model, effective_from, tier, input_usd, output_usd, cache_read_usd, cache_write_usd)
SELECT model, '2025-01-01T00:00:00Z', tier, input, output, cache_read, input
FROM (VALUES
  ('gpt-4o-mini',           'haiku',   0.15,   0.60, 0.075),
  ('gpt-4.1-nano',          'haiku',   0.10,   0.40, 0.025),
  ('gpt-4.1-mini',          'haiku',   0.40,   1.60, 0.10),
  ('gpt-5-nano',            'haiku',   0.05,   0.40, 0.005),
  ('gpt-5-mini',            'haiku',   0.25,   2.00, 0.025),
  ('o3-mini',               'haiku',   1.10,   4.40, 0.55),
  ('o4-mini',               'haiku',   1.10,   4.40, 0.275),
  ('gpt-4o',                'sonnet',  2.50,  10.00, 1.25),
  ('gpt-4.1',               'sonnet',  2.00,   8.00, 0.50),
  ('gpt-5',                 'sonnet',  1.25,  10.00, 0.125),
  ('gpt-5-codex',           'sonnet',  1.25,  10.00, 0.125),
  ('gpt-5.1',               'sonnet',  1.25,  10.00, 0.125),
  ('o3',                    'sonnet',  2.00,   8.00, 0.50),
  ('o1',                    'opus',   15.00,  60.00, 7.50),
  ('gemini-2.0-flash-lite', 'haiku',   0.075,  0.30, 0.075),
  ('gemini-2.0-flash',      'haiku',   0.10,   0.40, 0.025),
  ('gemini-2.5-flash-lite', 'haiku',   0.10,   0.40, 0.01),
  ('gemini-2.5-flash',      'haiku',   0.30,   2.50, 0.03),
  ('gemini-2.5-pro',        'sonnet',  1.25,  10.00, 0.125),
  ('gemini-3-pro',          'sonnet',  2.00,  12.00, 0.20)
) AS others (model, tier, input, output, cache_read);

-- Without a row: not enabled, no rules of its own, and the models that the server has for the tiers.
CREATE TABLE model_routing (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces (id) ON DELETE RESTRICT,
  enabled      boolean NOT NULL DEFAULT false,
  -- Tried in their order, before the server's own.
  rules        jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(rules) = 'array'),
  -- The model that a tier stands for, where it is another than the server's.
  tiers        jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(tiers) = 'object'),
  version      integer NOT NULL DEFAULT 1,
  updated_at   timestamptz NOT NULL DEFAULT now()
);

-- NULL: nobody has chosen one, and what executes the task takes its own.
ALTER TABLE task_runs ADD COLUMN model text;

ALTER TABLE model_routing ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_routing FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON model_routing FOR ALL TO drover_app
  USING (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid))
  WITH CHECK (workspace_id = (SELECT nullif(current_setting('app.workspace_id', true), '')::uuid));
CREATE POLICY service ON model_routing FOR ALL TO drover_service USING (true) WITH CHECK (true);

GRANT SELECT ON model_prices TO drover_app;
GRANT SELECT, INSERT ON model_prices TO drover_service;
GRANT SELECT, INSERT, UPDATE ON model_routing TO drover_app, drover_service;
