-- The tasks of agents that reviewed a change. Their usage is a part of its cost.
ALTER TABLE changes ADD COLUMN review_task_ids uuid[] NOT NULL DEFAULT '{}';
GRANT UPDATE (review_task_ids) ON changes TO drover_app, drover_service;
-- Changes in the order of their ends.
CREATE INDEX changes_ended_idx ON changes (workspace_id, (coalesce(merged_at, closed_at)), task_id)
  WHERE state IN ('MERGED', 'FAILED', 'CLOSED');
