-- The latest merges into a branch, which say how long the next ones will take.
CREATE INDEX changes_merged_idx ON changes (workspace_id, repository_id, target, merged_at) WHERE state = 'MERGED';
