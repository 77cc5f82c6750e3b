/**
 * The CTE `held`: runs that their holder reports about, with their tasks, locked; a run that is not
 * the live one of its task, or belongs to another agent, is left out. The run itself needs no lock: it
 * changes only under its task's.
 *
 * $1 workspace, $2 runs, $3 agent.
 */
export function heldRuns(condition: string): string {
  return `
held AS MATERIALIZED (
  SELECT t.id AS task_id, r.id AS run_id
  FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
  WHERE r.workspace_id = $1 AND r.id = ANY($2::uuid[]) AND r.agent_id = $3 AND t.run_id = r.id
    AND ${condition}
  ORDER BY t.id
  FOR NO KEY UPDATE OF t
)`;
}
