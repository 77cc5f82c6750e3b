-- The dead letter: tasks that failed for good, grouped by a fingerprint of their type, their reason and their error.
-- Words with digits (ids, times, counts) make no difference.
CREATE FUNCTION failure_fingerprint(task_type text, reason text, message text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN left(md5(task_type || E'\n' || coalesce(reason, '') || E'\n'
    || left(regexp_replace(split_part(coalesce(message, ''), E'\n', 1), '\S*\d\S*', '#', 'g'), 300)), 16);

-- NULL: it did not fail for good, was archived, or was replayed. Servers of the version before leave it NULL.
ALTER TABLE agent_tasks
  ADD COLUMN failure_fingerprint text,
  -- The dead task that this one repeats, and the task that repeats this one.
  ADD COLUMN replays_id uuid,
  ADD COLUMN replayed_by_id uuid,
  ADD CONSTRAINT agent_tasks_replays_fkey FOREIGN KEY (workspace_id, replays_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT NOT VALID,
  ADD CONSTRAINT agent_tasks_replayed_by_fkey FOREIGN KEY (workspace_id, replayed_by_id)
    REFERENCES agent_tasks (workspace_id, id) ON DELETE RESTRICT NOT VALID;

UPDATE agent_tasks SET failure_fingerprint =
    failure_fingerprint(task_type, coalesce(failure_reason, abort_reason), last_error)
WHERE status = 'FAILED' OR (status = 'ABORTED' AND retry_at IS NULL AND abort_reason <> 'cancelled');

CREATE INDEX agent_tasks_dead_idx ON agent_tasks (workspace_id, failure_fingerprint, id)
  WHERE failure_fingerprint IS NOT NULL;
