import { Injectable } from '@nestjs/common';
import {
  markAgentsStale,
  SHORTEST_THRESHOLD,
  silentFor,
  type StaleAgentRow,
  staleAgents,
} from '#lib/agent-manager';
import { Database, firstRow, query } from '#lib/database';
import { agentKey, type AgentPlace } from '#lib/kernel';
import { countByWorkspace, heartbeatExpected, type SweepResult } from '#lib/transitions';
import { HeartbeatStore, WakeUps } from '#lib/valkey';
import { MassFailureGuard } from '../domain/mass-failure-guard.js';
import { evaluateStaleness, type Staleness } from '../domain/staleness.js';
import { EventLog } from '../status/event-log.js';
import { LivenessObserver } from '../liveness/liveness-observer.js';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { WATCH_MS } from '../domain/next-cycle.js';
import { dueAt } from './due.sql.js';

const AGENTS = `agents a JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id
  AND h.agent_id = a.id
WHERE ${heartbeatExpected('a', 'h')}`;

/**
 * Number of agents that must send heartbeats, and the time since the latest heartbeat. Read only
 * when some agents are unresponsive. No index: both tables are read once and hashed (1,000 agents:
 * 1 ms).
 */
const readFleet = query<{ size: number; last_heard_ms: number | null }>(
  'coordinator_read_fleet',
  `
SELECT count(*)::int AS size,
  (extract(epoch FROM now() - max(h.last_seen_at)) * 1000)::float8 AS last_heard_ms
FROM ${AGENTS}`,
);

/** All unresponsive agents are read together, because the evaluation depends on their number. */
const AGENTS_AT_MOST = 50_000;

type Unresponsive = StaleAgentRow & { thresholdMs: number };

/**
 * Marks agents as dead that were unresponsive for longer than their threshold, unless this process
 * could not hear them. The next step ends their runs.
 */
@Injectable()
export class ReapStaleAgents implements Reconciler {
  static readonly facts = {
    name: 'reap_stale_agents',
    counter: 'deadWorkersFound',
    moves: 'agents unresponsive for longer than their threshold: ERROR',
    // Reads only agents that can be due before the next check.
    due: dueAt(`(SELECT min(h.last_seen_at + make_interval(secs => a.stale_threshold_seconds))
    FROM ${silentFor(`${SHORTEST_THRESHOLD} - ${(2 * WATCH_MS) / 1_000}`)}
    WHERE ${heartbeatExpected('a', 'h')})`),
  } as const satisfies ReconcilerFacts;

  private readonly guard = new MassFailureGuard();
  private loggedWhy: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly heartbeats: HeartbeatStore,
    private readonly observer: LivenessObserver,
    private readonly eventLog: EventLog,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Evaluates the whole fleet, whatever the scope: the number of unresponsive agents decides. */
  async sweep(pass: Pass): Promise<SweepResult> {
    const { limit, scope } = pass;
    const staleness = await this.evaluate(await this.unresponsiveAgents());
    this.logSpared(staleness);
    const meant = staleness.lost.filter(
      ({ workspace_id: id }) => scope.workspaceId === null || id === scope.workspaceId,
    );
    const lost = meant.slice(0, limit);
    const reaped = lost.length === 0 ? [] : await mark(pass, lost);
    this.logLost(lost, new Set(reaped.map((agent) => agentKey(placeOf(agent)))));
    return {
      moved: reaped.length,
      // Locked agents were skipped, and are not tried again at once.
      more: meant.length > limit && reaped.length > 0,
      byWorkspace: countByWorkspace(reaped),
    };
  }

  /**
   * Agents that are unresponsive in Postgres, and without a later heartbeat in Valkey. A deadline
   * in Valkey can come from an earlier, longer threshold, or from a clock that was set back.
   * Therefore it spares an agent for no longer than the present threshold.
   */
  private async unresponsiveAgents(): Promise<Unresponsive[]> {
    const rows = await this.database.service.rows(staleAgents, [AGENTS_AT_MOST]);
    if (rows.length === 0) return [];
    const known = await this.heartbeats.deadlinesOf(rows.map(placeOf));
    return rows
      .filter((row) => (known.get(agentKey(placeOf(row))) ?? -1) <= 0 || isBeyondSparing(row))
      .map((row) => ({ ...row, thresholdMs: row.stale_threshold_seconds * 1_000 }));
  }

  private async evaluate(unresponsive: Unresponsive[]): Promise<Staleness<Unresponsive>> {
    const any = unresponsive.length > 0;
    const fleet = any ? await firstRow(this.database.service, readFleet) : undefined;
    // After the read: a heartbeat later than the suspicion is never taken for an earlier one.
    const now = performance.now();
    const lastHeardMs = fleet?.last_heard_ms ?? null;
    const suspectedMs = this.guard.suspectedMs(now, lastHeardMs);
    const staleness = evaluateStaleness(
      unresponsive,
      { size: fleet?.size ?? 0, lastHeardMs },
      { observedMs: this.observer.observedMs(), suspectedMs },
    );
    this.guard.evaluated(now, staleness.massFailure, suspectedMs);
    return staleness;
  }

  /** Logs when it begins and when it ends, not in every cycle between. */
  private logSpared({ spared, why }: Staleness<Unresponsive>): void {
    if (why === this.loggedWhy) return;
    this.loggedWhy = why;
    if (why === null) {
      this.eventLog.write({
        level: 'INFO',
        event: 'silence_over',
        message: 'Unresponsive agents are judged again',
      });
      return;
    }
    this.eventLog.write({
      level: 'WARN',
      event: 'silence_doubted',
      message: 'Unresponsive agents spared: this process may be unable to hear them',
      details: { agents: spared.length, why },
    });
  }

  private logLost(lost: Unresponsive[], reaped: ReadonlySet<string>): void {
    const gone = lost.filter((agent) => reaped.has(agentKey(placeOf(agent))));
    for (const agent of gone) {
      const seconds = Math.round(agent.silent_seconds);
      this.eventLog.write({
        workspaceId: agent.workspace_id,
        level: 'WARN',
        event: 'agent_stale',
        message: `Agent marked as dead after ${seconds} s without a heartbeat`,
        details: { agentId: agent.id, silentSeconds: seconds, liveRuns: agent.live_runs },
      });
    }
    this.wakeUps.signals(gone.map((agent) => agent.id));
  }
}

function placeOf({
  workspace_id: workspaceId,
  id,
}: {
  workspace_id: string;
  id: string;
}): AgentPlace {
  return { workspaceId, agentId: id };
}

function isBeyondSparing({
  silent_seconds: silent,
  stale_threshold_seconds: threshold,
}: StaleAgentRow) {
  return silent > 2 * threshold;
}

function mark(pass: Pass, agents: Unresponsive[]) {
  const ids = [agents.map((agent) => agent.workspace_id), agents.map((agent) => agent.id)];
  return pass.transaction((tx) => tx.rows(markAgentsStale, ids));
}
