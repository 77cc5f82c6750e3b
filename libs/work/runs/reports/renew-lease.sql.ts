import { command } from '#lib/database';
import { isInUse } from '#lib/transitions';

/**
 * Renews the lease of a run claimed by hand, from now on. An expired lease can still be renewed
 * until the coordinator ends the run.
 *
 * Index: primary keys. $1 workspace, $2 run, $3 agent, $4 seconds or NULL (as before), $5 renewals
 * at most.
 */
export const renewLease = command<{ lease_expires_at: Date; renewals: number }>(
  'renew_lease',
  `
WITH held AS MATERIALIZED (
  SELECT t.id FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.run_id = $2 AND ${isInUse('$1')}
    AND t.id = (SELECT r.task_id FROM task_runs r WHERE r.workspace_id = $1 AND r.id = $2
      AND r.agent_id = $3)
  FOR NO KEY UPDATE
)
UPDATE task_runs r SET
  lease_seconds = coalesce($4::int, r.lease_seconds),
  lease_expires_at = now() + make_interval(secs => coalesce($4::int, r.lease_seconds)),
  renewals = r.renewals + 1,
  last_report_at = now()
FROM held
WHERE r.workspace_id = $1 AND r.id = $2 AND r.renewals < $5::int
RETURNING r.lease_expires_at, r.renewals`,
);
