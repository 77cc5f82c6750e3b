import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '#lib/database';
import { type AgentCaller, DroverError } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import type { AgentLifecycle } from '#lib/transitions';
import { DEFAULT_INTERVAL_SECONDS, DEFAULT_THRESHOLD_SECONDS } from '../domain/timing.js';
import { agentFacts, type AgentFactsRow } from '../store/agent-facts.sql.js';

/** The facts of an agent that a heartbeat needs. */
export interface Facts {
  workspaceId: string;
  agentId: string;
  lifecycle: AgentLifecycle;
  heartbeatIntervalSeconds: number;
  staleThresholdSeconds: number;
}

interface Entry {
  facts: Facts;
  /** On the clock of performance.now(); until then the facts hold without asking. */
  freshUntil: number;
}

/** Beyond it the oldest entry is dropped, and loaded again when its agent sends a heartbeat. */
const MAX_AGENTS = 100_000;
/**
 * Each flush renews the facts of the agents in it, so the facts of an agent that sends heartbeats are seldom
 * older.
 */
const FRESH_MS = 60_000;
/** With the database away, heartbeats are taken on the last facts known; it is asked again after this. */
const RETRY_MS = 5_000;
const LOAD_TIMEOUT_MS = 2_000;

/**
 * Facts about agents in memory, so that a heartbeat costs no query. Each flush renews them, and a signal that
 * an agent has changed invalidates them.
 */
@Injectable()
export class AgentFacts implements OnModuleDestroy {
  private readonly entries = new Map<string, Entry>();
  private readonly unsubscribe: (() => void)[];
  private waiters = new Map<string, ((row: AgentFactsRow | null | Error) => void)[]>();

  constructor(
    private readonly database: Database,
    wakeUps: WakeUps,
  ) {
    this.unsubscribe = [
      wakeUps.onSignals((agentId) => this.invalidate(agentId)),
      wakeUps.onResync(() => this.entries.forEach((entry) => (entry.freshUntil = 0))),
    ];
  }

  /** The facts in memory; undefined when they must be loaded. */
  peek(agentId: string, now: number): Facts | undefined {
    const entry = this.entries.get(agentId);
    return entry !== undefined && now < entry.freshUntil ? entry.facts : undefined;
  }

  /**
   * Asks the database. When it can't answer in time, the last facts hold, or for an agent that was
   * never heard of the defaults: its token says that it exists.
   *
   * @throws DroverError `agent_not_found`
   */
  async load({ workspaceId, agentId }: AgentCaller): Promise<Facts> {
    const row = await this.ask(agentId).catch(() => undefined);
    if (row === undefined) return this.makeDo(workspaceId, agentId);
    if (row?.workspace_id !== workspaceId) throw new DroverError('agent_not_found');
    return this.learn(row);
  }

  /** Takes facts that were just read. */
  learn(row: AgentFactsRow): Facts {
    const facts: Facts = {
      workspaceId: row.workspace_id,
      agentId: row.id,
      lifecycle: row.lifecycle,
      heartbeatIntervalSeconds: row.heartbeat_interval_seconds,
      staleThresholdSeconds: row.stale_threshold_seconds,
    };
    this.remember(facts, FRESH_MS);
    return facts;
  }

  onModuleDestroy(): void {
    for (const stop of this.unsubscribe) stop();
  }

  private remember(facts: Facts, freshMs: number): void {
    const { agentId } = facts;
    if (this.entries.size >= MAX_AGENTS && !this.entries.has(agentId)) {
      for (const oldest of this.entries.keys()) {
        this.entries.delete(oldest);
        break;
      }
    }
    this.entries.set(agentId, { facts, freshUntil: performance.now() + freshMs });
  }

  private invalidate(agentId: string): void {
    const entry = this.entries.get(agentId);
    if (entry) entry.freshUntil = 0;
  }

  private makeDo(workspaceId: string, agentId: string): Facts {
    const facts = this.entries.get(agentId)?.facts ?? {
      workspaceId,
      agentId,
      lifecycle: 'ACTIVE',
      heartbeatIntervalSeconds: DEFAULT_INTERVAL_SECONDS,
      staleThresholdSeconds: DEFAULT_THRESHOLD_SECONDS,
    };
    this.remember(facts, RETRY_MS);
    return facts;
  }

  /** One query for all callers in the same turn of the event loop. */
  private ask(agentId: string): Promise<AgentFactsRow | null> {
    if (this.waiters.size === 0) setImmediate(() => void this.answerAll());
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('no answer in time')), LOAD_TIMEOUT_MS);
      const settle = (answer: AgentFactsRow | null | Error): void => {
        clearTimeout(late);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      this.waiters.set(agentId, [...(this.waiters.get(agentId) ?? []), settle]);
    });
  }

  private async answerAll(): Promise<void> {
    const waiters = this.waiters;
    this.waiters = new Map();
    let answerOf: (agentId: string) => AgentFactsRow | null | Error;
    try {
      const rows = await this.database.service.rows(agentFacts, [[...waiters.keys()]]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      answerOf = (agentId) => byId.get(agentId) ?? null;
    } catch (error) {
      answerOf = () => error as Error;
    }
    for (const [agentId, settles] of waiters)
      for (const settle of settles) settle(answerOf(agentId));
  }
}
