-- No revocation depends on the time of issue, which would need one clock. Nothing read or wrote the column.
ALTER TABLE token_revocations DROP COLUMN not_before;
