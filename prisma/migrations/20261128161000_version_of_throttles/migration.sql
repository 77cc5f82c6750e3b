-- The version of the budget from which a throttle was computed. Servers of the version before leave it as it is. NULL
-- means unknown: the throttle then waits for the next search.
ALTER TABLE workspace_throttles ADD COLUMN budget_version int;
