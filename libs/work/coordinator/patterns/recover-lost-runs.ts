import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { isKeptByReports } from '#lib/runs';
import { type SweepResult, together } from '#lib/transitions';
import { LivenessObserver } from '../liveness/liveness-observer.js';
import { LostRuns } from '../recovery/lost-runs.js';
import { lostRuns } from './lost-runs.sql.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';

/**
 * Live runs of dead agents. A session that renews its lease with its own reports is not lost with
 * its agent, so it is left out. Indexes: agents (a scan of few rows), task_runs_live_agent_idx.
 */
const lockRunsOfLostAgents = lostRuns(
  'lock_runs_of_lost_agents',
  'JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id',
  `a.live_runs > 0
    AND (a.lifecycle = 'TERMINATED' OR (a.lifecycle = 'ERROR' AND NOT ${isKeptByReports('r')}))`,
  'r.workspace_id, r.task_id',
);

/**
 * Live runs whose session's gateway is unresponsive while another gateway is heard. The other
 * gateway's heartbeats count for the same agents, so these agents never become stale. Unresponsive
 * means longer than $3 seconds and than the agent's threshold, since the gateway's last heartbeat
 * and since its answer for the session. A process must have observed for as long, $4 seconds.
 * Indexes: gateways (a handful of rows), session_spawns_spawned_idx, primary keys.
 */
const lockRunsOfLostGateways = lostRuns(
  'lock_runs_of_lost_gateways',
  `JOIN session_spawns s ON s.workspace_id = r.workspace_id AND s.run_id = r.id
    AND s.state = 'SPAWNED'
JOIN gateways g ON g.id = s.gateway_id
JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id
CROSS JOIN LATERAL (SELECT greatest($3::float8, a.stale_threshold_seconds) AS seconds) AS longest`,
  `r.lease_by_heartbeat AND longest.seconds <= $4::float8
    AND greatest(g.last_seen_at, s.settled_at) < now() - make_interval(secs => longest.seconds)
    AND EXISTS (SELECT FROM gateways other
      WHERE other.id <> g.id AND other.last_seen_at > now() - make_interval(secs => $3::float8))`,
  'r.workspace_id, r.task_id',
);

/**
 * Ends the runs of agents in ERROR or TERMINATED. Also ends runs whose gateway is gone while
 * another one sends heartbeats for their agents. Their tasks are retried or fail.
 */
@Injectable()
export class RecoverLostRuns implements Reconciler {
  static readonly facts = {
    name: 'recover_lost_runs',
    counter: 'lostRunsRecovered',
    moves: 'runs of agents in ERROR or TERMINATED, and of gateways that are gone',
    notable: 'Runs were ended because their agent is gone',
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly runs: LostRuns,
    private readonly observer: LivenessObserver,
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
  ) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const ofAgents = await this.runs.end(pass, {
      lock: lockRunsOfLostAgents,
      reason: 'agent_stale',
      message: 'Its agent has stopped sending heartbeats',
    });
    const ofGateways = await this.runs.end(pass, {
      lock: lockRunsOfLostGateways,
      params: [this.config.gateway.staleSeconds, this.observer.observedMs() / 1_000],
      reason: 'agent_stale',
      message: 'Its gateway has stopped sending heartbeats',
    });
    return together(ofAgents, ofGateways);
  }
}
