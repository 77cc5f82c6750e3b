-- The prices of the list that came with model_prices were held against public price lists in November 2026: a data set of
-- prices that is published as a package (version of September 2026), and pages of the providers. One was wrong. What some
-- providers ask beyond the list, such as more for prompts above 200,000 tokens or for caches of an hour, it does not know.

-- A cache of this model costs more than a tenth to read, and less than a quarter more to write. What was used until now
-- stays as it was counted; where somebody has made a price meanwhile, that one holds.
INSERT INTO model_prices (model, effective_from, tier, input_usd, output_usd, cache_read_usd, cache_write_usd)
SELECT 'claude-3-haiku', date_trunc('milliseconds', now()), 'haiku', 0.25, 1.25, 0.03, 0.30
WHERE NOT EXISTS (SELECT FROM model_prices WHERE model = 'claude-3-haiku' AND created_by IS NOT NULL);

-- Models that were missing, by the same sources; without those that somebody has given a price.
INSERT INTO model_prices (model, effective_from, tier, input_usd, output_usd, cache_read_usd, cache_write_usd)
SELECT model, '2025-01-01T00:00:00Z', tier, input, output, cache_read, cache_write
FROM (VALUES
  ('claude-sonnet-5',       'sonnet', 2.00, 10.00, 0.20,  2.50),
  ('claude-opus-4-7',       'opus',   5.00, 25.00, 0.50,  6.25),
  ('claude-opus-4-8',       'opus',   5.00, 25.00, 0.50,  6.25),
  ('claude-opus-5',         'opus',   5.00, 25.00, 0.50,  6.25),
  ('gpt-5.4-nano',          'haiku',  0.20,  1.25, 0.02,  0.20),
  ('gpt-5.4-mini',          'haiku',  0.75,  4.50, 0.075, 0.75),
  ('gpt-5.2',               'sonnet', 1.75, 14.00, 0.175, 1.75),
  ('gpt-5.2-codex',         'sonnet', 1.75, 14.00, 0.175, 1.75),
  ('gpt-5.3-codex',         'sonnet', 1.75, 14.00, 0.175, 1.75),
  ('gpt-5.4',               'sonnet', 2.50, 15.00, 0.25,  2.50),
  ('gpt-5.5',               'opus',   5.00, 30.00, 0.50,  5.00),
  ('gemini-3.1-flash-lite', 'haiku',  0.25,  1.50, 0.025, 0.25),
  ('gemini-3-flash',        'haiku',  0.50,  3.00, 0.05,  0.50),
  ('gemini-3.1-pro',        'sonnet', 2.00, 12.00, 0.20,  2.00)
) AS checked (model, tier, input, output, cache_read, cache_write)
WHERE NOT EXISTS (SELECT FROM model_prices p WHERE p.model = checked.model);
