-- Holds of single requests to models, within the hold of their run.

ALTER TABLE task_runs
  -- The upper bounds of the requests under way in tokens, by their ids. held_tokens is at least their sum.
  ADD COLUMN request_holds jsonb NOT NULL DEFAULT '{}',
  -- The tokens that the run had to hold for a request that a budget refused. NULL: none was refused since it last
  -- held one. A task that was paused for it continues when its budgets have so much.
  ADD COLUMN wanted_tokens bigint,
  ADD CONSTRAINT task_runs_request_holds_check CHECK (jsonb_typeof(request_holds) = 'object') NOT VALID,
  ADD CONSTRAINT task_runs_wanted_is_positive CHECK (wanted_tokens > 0) NOT VALID;
