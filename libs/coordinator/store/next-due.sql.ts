import { isOfNone, isPaused, pausedTypes, spawnWaitSeconds } from '#lib/admission';
import { query } from '#lib/database';
import type { Dues } from '../domain/next-cycle.js';

const UNTIL = (time: string) => `(extract(epoch FROM ${time} - now()) * 1000)::float8`;

/**
 * Something is ready, a gateway has room, and a push agent of the workspace has too: when its rest is over
 * and the rates allow its session. What a pause holds back is not due before the end of the pause. The kinds
 * of agents that could begin soonest come first, so that the others need not be looked at.
 */
const ASSIGN_MS = `(SELECT ceil(k.wait * 1000) FROM (
    SELECT a.workspace_id, a.capabilities, ${pausedTypes('a.workspace_id')} AS paused,
      greatest(min(coalesce(extract(epoch FROM a.resting_until - now())::float8, 0)), 0,
        ${spawnWaitSeconds('a.workspace_id', '$2')}) AS wait
    FROM agents a
    WHERE a.mode = 'push' AND a.coordinator_enabled AND a.command <> '{}'
      AND a.lifecycle IN ('STARTING', 'ACTIVE') AND a.live_runs < a.max_concurrent_tasks
      AND EXISTS (SELECT FROM gateways
        WHERE NOT draining AND last_seen_at > now() - make_interval(secs => $1::float8)
        HAVING sum(capacity - others) > (SELECT coalesce(sum(live_runs), 0) FROM agents WHERE mode = 'push'))
    GROUP BY a.workspace_id, a.capabilities
    ORDER BY wait) k
  WHERE k.wait < 'infinity' AND NOT ${isPaused('k.workspace_id')}
    AND EXISTS (SELECT FROM agent_tasks t JOIN capability_sets c
        ON c.workspace_id = t.workspace_id AND c.key = t.capability_key
      WHERE t.workspace_id = k.workspace_id AND t.status = 'PENDING' AND t.unmet_dependencies = 0
        AND ${isOfNone('t.task_type', 'k.paused')} AND c.capabilities <@ k.capabilities)
  ORDER BY k.wait LIMIT 1)`;

/**
 * When the next thing is due, by the database's clock. The coordinator asks once a second and after
 * each cycle, so each part reads the first entry of an index; only agents are all looked at.
 *
 * Caller: Coordinator, as the service role. Indexes: agent_tasks_retry_due_idx,
 * agent_tasks_queue_expiry_idx, agent_tasks_unsettled_idx, task_runs_conflict_idx, task_runs_lease_idx (passing the leases that
 * beats carry), task_runs_deadline_idx; agents and agent_heartbeats are read once, hashed.
 * Measured with 100,000 tasks, 10,000 live runs, 1,000 agents: 4 ms, of which 3 for passing the leases
 * that beats carry, and 0.8 for the agents.
 * $1 seconds after which a silent gateway does not count, $2 sessions that may be spawned in a minute; 0: no limit.
 */
export const readDues = query<Dues>(
  'coordinator_read_dues',
  `
SELECT
  ${UNTIL(`(SELECT retry_at FROM agent_tasks WHERE status = 'ABORTED' AND retry_at IS NOT NULL
    ORDER BY retry_at LIMIT 1)`)} AS "retryMs",
  ${UNTIL(`(SELECT queue_expires_at FROM agent_tasks WHERE status = 'PENDING' AND queue_expires_at IS NOT NULL
    ORDER BY queue_expires_at LIMIT 1)`)} AS "queueExpiryMs",
  ${UNTIL(`(SELECT lease_expires_at FROM task_runs
    WHERE state IN ('ASSIGNED', 'WORKING', 'IN_REVIEW', 'APPROVED', 'STALE') AND NOT lease_by_heartbeat
    ORDER BY lease_expires_at LIMIT 1)`)} AS "leaseMs",
  -- The minute more that lockOverdueRuns gives to the agent's own report.
  ${UNTIL(`(SELECT deadline_at + interval '60 seconds' FROM task_runs
    WHERE deadline_at IS NOT NULL AND state IN ('ASSIGNED', 'WORKING', 'STALE')
    ORDER BY deadline_at LIMIT 1)`)} AS "deadlineMs",
  ${UNTIL(`(SELECT min(h.last_seen_at + make_interval(secs => a.stale_threshold_seconds))
    FROM agents a JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
    WHERE a.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING') AND (a.mode = 'pull' OR a.live_runs > 0)
      AND h.next_expected_at IS DISTINCT FROM 'infinity')`)} AS "silenceMs",
  ${UNTIL(`(SELECT least(
    (SELECT min(until) FROM pauses WHERE ended_at IS NULL),
    (SELECT min(until) FROM installation_pauses WHERE ended_at IS NULL)))`)} AS "pauseMs",
  EXISTS (SELECT FROM agent_tasks WHERE dependents_unsettled) AS unsettled,
  EXISTS (SELECT FROM task_runs WHERE conflict_seen_at IS NOT NULL AND conflict_told_at IS NULL) AS disputed,
  ${ASSIGN_MS} AS "assignMs"`,
);
