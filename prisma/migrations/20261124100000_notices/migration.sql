-- Notices to people: webhooks of other kinds, whose messages are sentences, joined into digests.

ALTER TABLE webhooks
  ADD COLUMN kind text NOT NULL DEFAULT 'signed' CONSTRAINT webhooks_kind_check
    CHECK (kind IN ('signed', 'slack', 'discord', 'email')),
  -- Users of the workspace who get e-mail.
  ADD COLUMN recipients uuid[] NOT NULL DEFAULT '{}',
  -- Template, digests and quiet hours.
  ADD COLUMN notice jsonb,
  ADD CONSTRAINT webhooks_email_has_recipients
    CHECK ((kind = 'email') = (cardinality(recipients) > 0) AND cardinality(recipients) <= 20),
  ADD CONSTRAINT webhooks_notice_has_settings CHECK ((kind = 'signed') = (notice IS NULL));

-- Recipients who have yet to get it, when others have; none: all of them.
ALTER TABLE webhook_deliveries ADD COLUMN left_to uuid[] NOT NULL DEFAULT '{}';
