import { query } from '#lib/database';

/** Seconds since the agent was last heard. Index: primary key. $1 workspace, $2 agent. */
export const silenceOfAgent = query<{ seconds: number }>(
  'silence_of_agent',
  `SELECT extract(epoch FROM now() - last_seen_at)::float8 AS seconds FROM agent_heartbeats
WHERE workspace_id = $1 AND agent_id = $2`,
);
