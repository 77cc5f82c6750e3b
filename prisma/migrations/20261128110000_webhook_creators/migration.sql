-- A webhook ends with the rights of its creator, unless somebody keeps it. The creators of older webhooks are unknown.
ALTER TABLE webhooks ADD COLUMN created_by uuid
  CONSTRAINT webhooks_created_by_fkey REFERENCES users (id) ON DELETE RESTRICT;
