-- Ends a transaction that completes runs and claims the next tasks, because a run could not be completed: nobody claims
-- for a completion that is refused. The server then does both halves apart.
CREATE FUNCTION run_not_completed() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a run was not completed' USING ERRCODE = 'triggered_action_exception';
END $$;
