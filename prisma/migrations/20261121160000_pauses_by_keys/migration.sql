-- Who turned a switch with an API key: the key, beside the user who made it. NULL: the user did.
-- A pause of everything is an operator's, who has signed in.
ALTER TABLE pauses
  ADD COLUMN paused_by_key uuid,
  ADD COLUMN ended_by_key uuid,
  ADD CONSTRAINT pauses_ended_by_keys_user CHECK (ended_by_key IS NULL OR ended_by IS NOT NULL);
