import { Injectable } from '@nestjs/common';
import { SHORTEST_INTERVAL, silentFor } from '#lib/agent-manager';
import { command } from '#lib/database';
import {
  journaled,
  promisesHeartbeat,
  runTransitionWithoutEnd,
  type SweepResult,
} from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

/**
 * STALE is a warning about a run whose agent has missed two heartbeats. A heartbeat clears it. Only
 * a run with a lease that heartbeats renew can become STALE: for other runs no heartbeats are
 * required.
 *
 * agent_heartbeats is read once (10,000 agents: 2 ms). Indexes: agents_heartbeat_interval_idx,
 * primary key of agents, task_runs_live_agent_idx. $1 rows, $2 workspace or NULL.
 */
const markStaleRuns = command<{ workspace_id: string }>(
  'mark_stale_runs',
  `
WITH unresponsive AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM ${silentFor(`2 * ${SHORTEST_INTERVAL}`)}
  CROSS JOIN LATERAL (SELECT x.* FROM task_runs x
    WHERE x.workspace_id = h.workspace_id AND x.agent_id = h.agent_id AND x.state = 'WORKING'
    OFFSET 0) r
  WHERE r.lease_by_heartbeat
    AND h.last_seen_at < now() - make_interval(secs => 2 * a.heartbeat_interval_seconds)
    AND ${promisesHeartbeat('h')}
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  LIMIT $1
),
${runTransitionWithoutEnd('STALE', 'unresponsive')},
${journaled('runs')}
SELECT workspace_id, task_id FROM run_moved`,
);

/** Index: task_runs_stale_idx. $1 rows, $2 workspace or NULL. */
const reviveStaleRuns = command<{ workspace_id: string }>(
  'revive_stale_runs',
  `
WITH back AS MATERIALIZED (
  SELECT r.workspace_id, r.id FROM task_runs r
  JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
  JOIN agent_heartbeats h ON h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id
  WHERE r.state = 'STALE' AND r.lease_by_heartbeat
    AND h.last_seen_at >= now() - make_interval(secs => 2 * a.heartbeat_interval_seconds)
    AND ($2::uuid IS NULL OR r.workspace_id = $2)
  LIMIT $1
),
${runTransitionWithoutEnd('WORKING', 'back')},
${journaled('runs')}
SELECT workspace_id, task_id FROM run_moved`,
);

/**
 * Marks runs as STALE whose agent has missed two heartbeats, and clears the mark at the next
 * heartbeat.
 */
@Injectable()
export class WatchLiveness implements Reconciler {
  static readonly facts = {
    name: 'watch_liveness',
    counter: 'livenessChanges',
    moves: 'runs whose agent has missed two heartbeats: STALE, and back',
  } as const satisfies ReconcilerFacts;

  async sweep(pass: Pass): Promise<SweepResult> {
    const changed = await pass.transaction(async (tx) => [
      ...(await tx.rows(reviveStaleRuns, pass.bounds)),
      ...(await tx.rows(markStaleRuns, pass.bounds)),
    ]);
    return pass.countMoved(changed);
  }
}
