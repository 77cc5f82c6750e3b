-- Attempts at the same change: the id of the first one. NULL: there is one attempt.
ALTER TABLE changes ADD COLUMN attempts_id uuid,
  ADD CONSTRAINT changes_attempts_fkey FOREIGN KEY (workspace_id, attempts_id)
    REFERENCES changes (workspace_id, task_id) ON DELETE RESTRICT;
GRANT UPDATE (attempts_id) ON changes TO drover_app;
CREATE INDEX changes_attempts_idx ON changes (workspace_id, attempts_id) WHERE attempts_id IS NOT NULL;
-- One of them is approved.
CREATE UNIQUE INDEX changes_approved_attempt_key ON changes (workspace_id, attempts_id)
  WHERE state = 'APPROVED' AND attempts_id IS NOT NULL;
