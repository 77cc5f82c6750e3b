import { command } from '#lib/database';

/**
 * Appends revocations: parallel arrays of kinds, subjects, seconds that they must last, and
 * workspaces of agents.
 *
 * In the transaction that makes them true, as the service role or a tenant. Needs no index. They
 * last five minutes longer than the tokens, for servers whose clocks are behind.
 */
export const insertRevocations = command<unknown>(
  'identity_insert_revocations',
  `INSERT INTO token_revocations (kind, subject, expires_at, agent_workspace_id)
   SELECT kind, subject, now() + (seconds + 300) * interval '1 second', workspace_id
     FROM unnest($1::text[], $2::text[], $3::int[], $4::uuid[])
       AS given (kind, subject, seconds, workspace_id)`,
);
