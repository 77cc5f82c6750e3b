-- A task that was cancelled together with another is no failure, and leaves the dead letter. Servers of the version
-- before still add such tasks to it while they run. Index: agent_tasks_dead_idx.
UPDATE agent_tasks SET failure_fingerprint = NULL
WHERE failure_fingerprint IS NOT NULL AND status = 'ABORTED' AND abort_reason = 'dependency_cancelled';
