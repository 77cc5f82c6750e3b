-- The request that made a task, as a place in a trace (W3C traceparent); NULL when it was not traced.
ALTER TABLE agent_tasks ADD COLUMN traceparent text;
