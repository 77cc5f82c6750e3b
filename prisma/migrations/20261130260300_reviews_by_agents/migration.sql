-- An agent that reviews is asked (`ask`), then its verdict is taken (`take`). It applies to changes in review alone.
ALTER TABLE changes ADD COLUMN review_step text CHECK (review_step IN ('ask', 'take'));
CREATE INDEX changes_review_step_idx ON changes (workspace_id, task_id)
  WHERE state = 'IN_REVIEW' AND review_step IS NOT NULL;
GRANT UPDATE (review_step) ON changes TO drover_app, drover_service;
