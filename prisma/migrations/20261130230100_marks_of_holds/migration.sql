-- Claims ask one mark of a workspace before they ask each kind of hold. Servers of the version before do not read it, and
-- triggers keep it whatever version writes.
ALTER TABLE workspaces ADD COLUMN may_hold_tasks boolean NOT NULL DEFAULT false;

-- Whether a workspace has a pause, a throttle, a budget or a provider limit, even one that holds nothing at present.
CREATE FUNCTION workspace_may_hold_tasks(workspace uuid) RETURNS boolean
  LANGUAGE sql STABLE SET search_path = pg_catalog, public AS $$
  SELECT EXISTS (SELECT FROM pauses p WHERE p.workspace_id = workspace AND p.ended_at IS NULL)
    OR EXISTS (SELECT FROM workspace_throttles t WHERE t.workspace_id = workspace)
    OR EXISTS (SELECT FROM usage_budgets b WHERE b.workspace_id = workspace)
    OR EXISTS (SELECT FROM provider_limits l WHERE l.workspace_id = workspace)
$$;

-- The lock lets changes of one workspace take turns: the statement behind it sees the changes of those before it.
CREATE FUNCTION mark_holds_of_workspace() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
  workspace uuid := CASE TG_OP WHEN 'DELETE' THEN OLD.workspace_id ELSE NEW.workspace_id END;
BEGIN
  PERFORM FROM workspaces w WHERE w.id = workspace FOR NO KEY UPDATE;
  UPDATE workspaces w SET may_hold_tasks = NOT w.may_hold_tasks
    WHERE w.id = workspace AND w.may_hold_tasks <> workspace_may_hold_tasks(workspace);
  RETURN NULL;
END $$;

CREATE TRIGGER pauses_mark_holds AFTER INSERT OR DELETE OR UPDATE OF ended_at ON pauses
  FOR EACH ROW EXECUTE FUNCTION mark_holds_of_workspace();
CREATE TRIGGER workspace_throttles_mark_holds AFTER INSERT OR DELETE ON workspace_throttles
  FOR EACH ROW EXECUTE FUNCTION mark_holds_of_workspace();
CREATE TRIGGER usage_budgets_mark_holds AFTER INSERT OR DELETE ON usage_budgets
  FOR EACH ROW EXECUTE FUNCTION mark_holds_of_workspace();
CREATE TRIGGER provider_limits_mark_holds AFTER INSERT OR DELETE ON provider_limits
  FOR EACH ROW EXECUTE FUNCTION mark_holds_of_workspace();

ALTER TABLE workspaces NO FORCE ROW LEVEL SECURITY;
ALTER TABLE pauses NO FORCE ROW LEVEL SECURITY;
ALTER TABLE workspace_throttles NO FORCE ROW LEVEL SECURITY;
ALTER TABLE usage_budgets NO FORCE ROW LEVEL SECURITY;
ALTER TABLE provider_limits NO FORCE ROW LEVEL SECURITY;
UPDATE workspaces SET may_hold_tasks = true WHERE workspace_may_hold_tasks(id);
ALTER TABLE workspaces FORCE ROW LEVEL SECURITY;
ALTER TABLE pauses FORCE ROW LEVEL SECURITY;
ALTER TABLE workspace_throttles FORCE ROW LEVEL SECURITY;
ALTER TABLE usage_budgets FORCE ROW LEVEL SECURITY;
ALTER TABLE provider_limits FORCE ROW LEVEL SECURITY;
