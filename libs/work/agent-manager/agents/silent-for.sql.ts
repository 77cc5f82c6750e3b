/** SQL: the shortest threshold of any agent, in seconds. Index: agents_stale_threshold_idx. */
export const SHORTEST_THRESHOLD = '(SELECT min(stale_threshold_seconds) FROM agents)';

/** SQL: the shortest interval of any agent, in seconds. Index: agents_heartbeat_interval_idx. */
export const SHORTEST_INTERVAL = '(SELECT min(heartbeat_interval_seconds) FROM agents)';

/**
 * SQL, for FROM: heartbeats `h` of at least this age with their agents `a`. The other agents are not
 * looked up, whatever the statistics say. Index: primary key of agents.
 *
 * @param seconds an SQL expression
 */
export const silentFor = (seconds: string) =>
  `(SELECT * FROM agent_heartbeats h
  WHERE h.last_seen_at < now() - make_interval(secs => ${seconds}) OFFSET 0) h
CROSS JOIN LATERAL (SELECT x.* FROM agents x
  WHERE x.workspace_id = h.workspace_id AND x.id = h.agent_id OFFSET 0) a`;
