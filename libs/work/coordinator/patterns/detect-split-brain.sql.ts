import { query } from '#lib/database';
import { namesTaskOfAnother, provesWorkAfter } from '#lib/runs';
import { rowOf, SUBJECT_AGENTS_BEFORE } from '../store/searches.sql.js';

export interface RivalRow {
  workspace_id: string;
  id: string;
  /** Milliseconds until a further heartbeat has had time to prove the conflict. */
  open_ms: number;
}

/**
 * Agents whose heartbeats name a task of another agent. They are in conflict, or a later heartbeat
 * can still prove it. Index: primary keys, once for each agent.
 */
export const findRivals = query<RivalRow>(
  'find_rivals',
  `
WITH ${SUBJECT_AGENTS_BEFORE}
SELECT s.workspace_id, s.id,
  (extract(epoch FROM p.after + make_interval(secs => 2 * a.heartbeat_interval_seconds) - now())
    * 1000)::float8 AS open_ms
FROM subject s
CROSS JOIN LATERAL (
  SELECT x.* FROM agent_heartbeats x WHERE x.workspace_id = s.workspace_id AND x.agent_id = s.id
    AND x.current_task_id IS NOT NULL OFFSET 0) h
CROSS JOIN LATERAL (
  SELECT x.* FROM agent_tasks x WHERE x.workspace_id = s.workspace_id
    AND x.id = h.current_task_id OFFSET 0) t
${rowOf('agents', 'a')}
CROSS JOIN LATERAL (SELECT ${provesWorkAfter('t', 'a')} AS after) p
WHERE ${namesTaskOfAnother('h', 't')}
  AND (h.last_seen_at > p.after
    OR now() < p.after + make_interval(secs => 2 * a.heartbeat_interval_seconds))
LIMIT $1`,
);
