-- What a report of usage knows of a single request to a model.

ALTER TABLE agent_usage_logs
  -- Part of output_tokens.
  ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0,
  -- From the request to the first output. NULL: unknown, or no output arrived.
  ADD COLUMN time_to_first_token_ms integer,
  -- The provider did not tell all counts.
  ADD COLUMN estimated boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT agent_usage_logs_request_check CHECK (reasoning_tokens BETWEEN 0 AND output_tokens
    AND time_to_first_token_ms >= 0) NOT VALID;

ALTER TABLE usage_rollups
  ADD COLUMN reasoning_tokens numeric NOT NULL DEFAULT 0,
  -- The part of the tokens and reports that is estimated.
  ADD COLUMN estimated_tokens numeric NOT NULL DEFAULT 0,
  ADD COLUMN estimated_reports bigint NOT NULL DEFAULT 0;
