import { Injectable } from '@nestjs/common';
import { markAgentsStale, type StaleAgentRow, staleAgents } from '#lib/agent-manager';
import { Database, firstRow, query } from '#lib/database';
import { agentKey, type AgentPlace } from '#lib/kernel';
import { countByWorkspace, heartbeatExpected, type SweepResult } from '#lib/transitions';
import { HeartbeatStore, WakeUps } from '#lib/valkey';
import { MassFailureGuard } from '../domain/mass-failure-guard.js';
import { evaluateStaleness, type Staleness } from '../domain/staleness.js';
import { EventLog } from '../status/event-log.js';
import { LivenessObserver } from '../liveness/liveness-observer.js';
import type { Pass } from '../cycle/pass.js';
import { dueAt, type Reconciler, type ReconcilerFacts } from '../cycle/reconciler.js';

const AGENTS = `agents a JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id AND h.agent_id = a.id
WHERE ${heartbeatExpected('a', 'h')}`;

/**
 * How many agents are expected to send heartbeats, and how long ago any of them was heard. Read only when
 * some are unresponsive. No index: both tables are read once, hashed (1,000 agents: 1 ms).
 */
const readFleet = query<{ size: number; last_heard_ms: number | null }>(
  'coordinator_read_fleet',
  `
SELECT count(*)::int AS size,
  (extract(epoch FROM now() - max(h.last_seen_at)) * 1000)::float8 AS last_heard_ms
FROM ${AGENTS}`,
);

/** All of them are looked at together, because how many they are is part of the evaluation. */
const AGENTS_AT_MOST = 50_000;

type Unresponsive = StaleAgentRow & { thresholdMs: number };

/**
 * Takes agents for dead that were unresponsive for longer than their threshold, unless it is this process
 * that could not hear them. Their runs are the next step's business.
 */
@Injectable()
export class ReapStaleAgents implements Reconciler {
  static readonly facts = {
    name: 'reap_stale_agents',
    counter: 'deadWorkersFound',
    moves: 'agents unresponsive for longer than their threshold: ERROR',
    due: dueAt(`(SELECT min(h.last_seen_at + make_interval(secs => a.stale_threshold_seconds))
    FROM ${AGENTS})`),
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

  /** The whole fleet is evaluated, whatever the scope: how many are unresponsive decides. */
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
      // Those that somebody has locked were skipped, and are not asked for again at once.
      more: meant.length > limit && reaped.length > 0,
      byWorkspace: countByWorkspace(reaped),
    };
  }

  /**
   * Unresponsive by Postgres, and not known by Valkey to have sent a heartbeat since. A deadline in Valkey may be that
   * of a former, longer threshold, or of a clock that was set back: it spares nobody for longer than the present
   * threshold.
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
    const now = performance.now();
    const any = unresponsive.length > 0;
    const fleet = any ? await firstRow(this.database.service, readFleet) : undefined;
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

  /** Once when it begins and once when it is over, not in every cycle between. */
  private logSpared({ spared, why }: Staleness<Unresponsive>): void {
    if (why === this.loggedWhy) return;
    this.loggedWhy = why;
    if (why === null) {
      this.eventLog.write({
        level: 'INFO',
        event: 'silence_over',
        message: 'No mass failure is suspected any more',
      });
      return;
    }
    this.eventLog.write({
      level: 'WARN',
      event: 'silence_doubted',
      message: 'Agents are unresponsive, but this process may be blind: they are waited for',
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
        message: `An agent has sent no heartbeat for ${seconds} s and is taken for dead`,
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
