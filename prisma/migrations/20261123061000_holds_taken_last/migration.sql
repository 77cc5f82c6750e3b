-- Ends a transaction that would hold more of a budget than it has left, because others took of it since the transaction
-- looked: as a serialization failure, after which the same work is done anew, with what is left now.
CREATE FUNCTION budget_taken_meanwhile() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a budget was taken meanwhile' USING ERRCODE = 'serialization_failure';
END $$;
