-- Like the journal, a line has a transaction id before it has an id. So all lines up to an id exist once the
-- transactions that were open when it was read have ended.
ALTER TABLE task_log_lines ALTER COLUMN id SET DEFAULT
  CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('journal_id_seq') END;
