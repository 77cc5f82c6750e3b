-- How far each slow search of the coordinator has come: in the journal, and in its walk over all keys.
CREATE TABLE coordinator_searches (
  name               text PRIMARY KEY,
  -- The tasks named by entries up to this one were searched.
  journal_id         bigint,
  -- All keys up to this one were searched in the present round.
  after_workspace_id uuid NOT NULL,
  after_task_id      uuid NOT NULL,
  rounds             bigint NOT NULL DEFAULT 0
);
GRANT SELECT, INSERT, UPDATE ON coordinator_searches TO drover_service;
