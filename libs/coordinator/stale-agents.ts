import { Injectable } from '@nestjs/common';
import { markAgentsStale, type StaleAgentRow, staleAgents } from '#lib/agent-manager';
import { Database, type Fence, firstRow } from '#lib/database';
import { EVERYWHERE, type Swept } from '#lib/transitions';
import { HeartbeatStore, WakeUps } from '#lib/valkey';
import { countByWorkspace } from './domain/counts.js';
import { Doubt } from './domain/doubt.js';
import { judgeSilence, type Verdict } from './domain/silence.js';
import { Hearing } from './hearing.js';
import { Journal } from './journal.js';
import { readFleet } from './store/fleet.sql.js';

/** All of them are looked at together, because how many they are is part of the verdict. */
const SILENT_AT_MOST = 50_000;

type Silent = StaleAgentRow & { thresholdMs: number };

/** Finds agents that are dead, and says so through their door. Their runs are the next step's business. */
@Injectable()
export class StaleAgents {
  private readonly doubt = new Doubt();
  private toldOf: string | null = null;

  constructor(
    private readonly database: Database,
    private readonly heartbeats: HeartbeatStore,
    private readonly hearing: Hearing,
    private readonly journal: Journal,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Judged is the whole fleet, whatever the scope: how many are silent is part of the verdict. */
  async reap(fence: Fence, limit: number, { workspaceId } = EVERYWHERE): Promise<Swept> {
    const verdict = await this.judge(await this.silentAgents());
    this.tellOfSpared(verdict);
    const meant = verdict.lost.filter(
      (agent) => workspaceId === null || agent.workspace_id === workspaceId,
    );
    const lost = meant.slice(0, limit);
    const reaped = lost.length === 0 ? [] : await this.mark(fence, lost);
    this.tellOfLost(lost, new Set(reaped.map((agent) => agent.id)));
    return {
      moved: reaped.length,
      // Those that somebody has locked were skipped, and are not asked for again at once.
      more: meant.length > limit && reaped.length > 0,
      byWorkspace: countByWorkspace(reaped),
    };
  }

  /** For how long beats could have been heard without interruption. */
  listeningMs(): number {
    return this.hearing.listeningMs();
  }

  /** Silent by Postgres, and not known by Valkey to have beaten since. */
  private async silentAgents(): Promise<Silent[]> {
    const rows = await this.database.service.rows(staleAgents, [SILENT_AT_MOST]);
    if (rows.length === 0) return [];
    const longest = Math.max(...rows.map((row) => row.stale_threshold_seconds)) * 1_000;
    const ids = rows.map((row) => row.id);
    const { known } = await this.heartbeats.deadlinesOf(ids, longest);
    return rows
      .filter((row) => (known.get(row.id) ?? -1) <= 0)
      .map((row) => ({ ...row, thresholdMs: row.stale_threshold_seconds * 1_000 }));
  }

  private async judge(silent: Silent[]): Promise<Verdict<Silent>> {
    const now = performance.now();
    const fleet =
      silent.length === 0 ? undefined : await firstRow(this.database.service, readFleet);
    const lastHeardMs = fleet?.last_heard_ms ?? null;
    const suspiciousMs = this.doubt.lastsMs(now, lastHeardMs);
    const verdict = judgeSilence(
      silent,
      { size: fleet?.size ?? 0, lastHeardMs },
      { listeningMs: this.hearing.listeningMs(), suspiciousMs },
    );
    this.doubt.judged(now, verdict.suspicious, suspiciousMs);
    return verdict;
  }

  private mark(fence: Fence, agents: Silent[]) {
    return this.database.service.transaction(async (tx) => {
      await fence(tx);
      return tx.rows(markAgentsStale, [
        agents.map((agent) => agent.workspace_id),
        agents.map((agent) => agent.id),
      ]);
    });
  }

  /** Once when it begins and once when it is over, not in every cycle between. */
  private tellOfSpared({ spared, why }: Verdict<Silent>): void {
    if (why === this.toldOf) return;
    this.toldOf = why;
    if (why === null) {
      this.journal.write({ level: 'INFO', event: 'silence_over', message: 'The doubt is over' });
      return;
    }
    this.journal.write({
      level: 'WARN',
      event: 'silence_doubted',
      message: 'Agents are silent, but it may be us who could not hear them: they are waited for',
      details: { agents: spared.length, why },
    });
  }

  private tellOfLost(lost: Silent[], reaped: ReadonlySet<string>): void {
    const gone = lost.filter((agent) => reaped.has(agent.id));
    for (const agent of gone) {
      const seconds = Math.round(agent.silent_seconds);
      this.journal.write({
        workspaceId: agent.workspace_id,
        level: 'WARN',
        event: 'agent_stale',
        message: `An agent has not beaten for ${seconds} s and is taken for dead`,
        details: { agentId: agent.id, silentSeconds: seconds, liveRuns: agent.live_runs },
      });
    }
    this.wakeUps.signals(gone.map((agent) => agent.id));
  }
}
