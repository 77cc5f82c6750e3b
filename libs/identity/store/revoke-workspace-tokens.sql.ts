import { command } from '#lib/database';

/**
 * Revokes the tokens of all agents of a workspace and of its live runs, and makes every server look
 * its members up again: workspace, seconds that agent tokens last, seconds that run tokens last.
 *
 * Called when a workspace is archived, as the tenant. Needs the agents' primary key and
 * task_runs_live_agent_idx. A subject without a version means every version.
 */
export const revokeWorkspaceTokens = command<unknown>(
  'identity_revoke_workspace_tokens',
  `INSERT INTO token_revocations (kind, subject, expires_at)
   SELECT 'agent', id::text, now() + ($2::int + 300) * interval '1 second'
     FROM agents WHERE workspace_id = $1
   UNION ALL
   SELECT 'run', id::text, now() + ($3::int + 300) * interval '1 second'
     FROM task_runs
    WHERE workspace_id = $1
      AND state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE')
   UNION ALL
   SELECT 'user', user_id::text, now() + interval '10 minutes'
     FROM workspace_members WHERE workspace_id = $1`,
);
