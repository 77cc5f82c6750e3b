-- A message of files alone has no text. NOT VALID: earlier rows fulfil a stricter check.
ALTER TABLE run_messages DROP CONSTRAINT run_messages_text_check;
ALTER TABLE run_messages ADD CONSTRAINT run_messages_text_check
  CHECK (length(text) <= 16000 AND (text <> '' OR coalesce(data ? 'attachments', false))) NOT VALID;
