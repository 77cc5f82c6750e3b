-- Null means ARTIFACT_QUOTA_MB of the installation.
ALTER TABLE workspace_limits ADD COLUMN max_artifact_mb natural_number;
