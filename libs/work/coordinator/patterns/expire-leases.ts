import { Injectable } from '@nestjs/common';
import { hasSession, isKeptByReports } from '#lib/runs';
import { isLiveRun, promisesNoHeartbeat, type SweepResult, together } from '#lib/transitions';
import { LivenessObserver } from '../liveness/liveness-observer.js';
import { LostRuns } from '../recovery/lost-runs.js';
import { lostRuns } from './lost-runs.sql.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/**
 * Expired leases, except the leases that heartbeats renew. For these, reap_stale_agents decides
 * with all agents in view whether an agent is gone or only cannot be heard. Then recover_lost_runs
 * finds their runs. Otherwise an outage of ours that outlasts a lease would end every run of the
 * fleet. Index: task_runs_lease_idx.
 */
const lockExpiredRuns = lostRuns(
  'lock_expired_runs',
  '',
  `r.lease_expires_at <= now() AND NOT r.lease_by_heartbeat AND NOT ${hasSession('r')}`,
  'r.lease_expires_at',
);

/**
 * Expired leases of silent sessions whose gateway sends no heartbeats for them. This process could
 * have heard them for $3 seconds; longer leases are left out, as right after an outage. Sessions
 * that are not spawned yet are left out too, because they cannot report anything.
 * Indexes: task_runs_lease_idx, session_spawns (primary key).
 */
const lockSilentSessions = lostRuns(
  'lock_silent_sessions',
  '',
  `r.lease_expires_at <= now() AND ${isKeptByReports('r')} AND r.lease_seconds <= $3::float8
    AND NOT EXISTS (SELECT FROM session_spawns p
      WHERE p.workspace_id = r.workspace_id AND p.run_id = r.id AND p.state = 'PENDING')`,
  'r.lease_expires_at',
);

/**
 * Leases that heartbeats should renew, of agents that owe none: they have sent no heartbeat since
 * they registered. Such an agent never becomes stale, so the lease itself is the limit. No statement
 * deletes the heartbeat of an agent with a lease, so agents without one are read only if $3.
 * Indexes: agent_heartbeats and agents (read once), task_runs_live_agent_idx.
 */
const lockExpiredRunsWithoutHeartbeats = lostRuns(
  'lock_expired_runs_without_heartbeats',
  `JOIN (SELECT h.workspace_id, h.agent_id FROM agent_heartbeats h WHERE ${promisesNoHeartbeat('h')}
  UNION ALL
  SELECT a.workspace_id, a.id FROM agents a WHERE $3::boolean AND a.live_runs > 0
    AND NOT EXISTS (SELECT FROM agent_heartbeats h
      WHERE h.workspace_id = a.workspace_id AND h.agent_id = a.id)
  OFFSET 0) a ON a.workspace_id = r.workspace_id AND a.agent_id = r.agent_id`,
  'r.lease_by_heartbeat AND r.lease_expires_at <= now()',
  'r.workspace_id, r.task_id',
);

/**
 * Ends runs with an expired lease that no heartbeats renew. Their tasks are retried or fail. Only the
 * search for agents without a heartbeat is slow.
 */
@Injectable()
export class ExpireLeases implements Reconciler {
  static readonly facts = {
    name: 'expire_leases',
    counter: 'expiredClaimsReleased',
    moves: 'runs without heartbeats, whose lease has passed',
    notable: 'Runs were ended because their lease had expired',
    // Skips the leases that heartbeats renew. The schedule finds silent sessions.
    due: dueAt(`(SELECT r.lease_expires_at FROM task_runs r
    WHERE ${isLiveRun('r')} AND NOT r.lease_by_heartbeat AND NOT ${hasSession('r')}
      ORDER BY r.lease_expires_at LIMIT 1)`),
    slow: 'partly',
    whole: true,
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly runs: LostRuns,
    private readonly observer: LivenessObserver,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const loss = { reason: 'lease_expired', message: 'The lease of its run expired' } as const;
    const own = await this.runs.end(pass, { ...loss, lock: lockExpiredRuns });
    const others = await this.runs.end(pass, {
      ...loss,
      lock: lockExpiredRunsWithoutHeartbeats,
      params: [pass.scope.thorough],
    });
    const silent = await this.runs.end(pass, {
      ...loss,
      lock: lockSilentSessions,
      params: [this.observer.observedMs() / 1_000],
      message: 'Its session was silent for the length of its lease',
    });
    return together(together(own, others), silent);
  }
}
