-- Whether a closed change of a task can be on its target, because no host has looked since its last
-- push. A function, because commands for tasks lie below changes. Index: primary key.
CREATE FUNCTION change_may_have_landed(workspace uuid, task uuid) RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT EXISTS (SELECT FROM changes c
    WHERE c.workspace_id = workspace AND c.task_id = task AND c.step = 'remove'
      AND c.state = 'CLOSED' AND c.landing_commits || c.earlier_landings <> '{}')
$$;
