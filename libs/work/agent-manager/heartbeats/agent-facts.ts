import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '#lib/database';
import { agentKey, type AgentPlace, DroverError } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import type { AgentLifecycle } from '#lib/transitions';
import { DEFAULT_INTERVAL_SECONDS, DEFAULT_THRESHOLD_SECONDS } from '../domain/timing.js';
import { agentFacts, type AgentFactsRow } from './agent-facts.sql.js';

/** The facts of an agent that a heartbeat needs. */
export interface Facts extends AgentPlace {
  lifecycle: AgentLifecycle;
  heartbeatIntervalSeconds: number;
  staleThresholdSeconds: number;
}

interface Entry {
  facts: Facts;
  /** Time until which the facts are valid, on the clock of performance.now(). */
  freshUntil: number;
}

type Answer = AgentFactsRow | null | Error;

/** Callers that wait for the facts of one agent. */
interface Waiters {
  agent: AgentPlace;
  settles: ((answer: Answer) => void)[];
}

/** Above this number the oldest entries are evicted, and loaded again with the next heartbeat. */
const MAX_AGENTS = 100_000;
/** Each flush renews the facts of its agents, so facts are rarely older. */
const FRESH_MS = 60_000;
/**
 * While the database is unreachable, heartbeats use the last known facts. It is asked again after
 * this time.
 */
const RETRY_MS = 5_000;
const LOAD_TIMEOUT_MS = 2_000;

/**
 * Facts about agents in memory, so that a heartbeat costs no query. Each flush renews them, and a
 * signal about a changed agent invalidates them.
 */
@Injectable()
export class AgentFacts implements OnModuleDestroy {
  /** By agent id, as in signals, then by workspace: rarely more than one. */
  private readonly entries = new Map<string, Map<string, Entry>>();
  private size = 0;
  private readonly unsubscribe: (() => void)[];
  private waiters = new Map<string, Waiters>();

  constructor(
    private readonly database: Database,
    wakeUps: WakeUps,
  ) {
    this.unsubscribe = [
      wakeUps.onSignals((agentId) => this.invalidate(agentId)),
      wakeUps.onResync(() => [...this.entries.keys()].forEach((id) => this.invalidate(id))),
    ];
  }

  /** The facts in memory. Undefined if they must be loaded. */
  peek(agent: AgentPlace, now: number): Facts | undefined {
    const entry = this.entryOf(agent);
    return entry !== undefined && now < entry.freshUntil ? entry.facts : undefined;
  }

  /**
   * Asks the database. If it does not answer in time, the last facts apply, or the defaults for an
   * unknown agent, whose token proves that it exists.
   *
   * @throws DroverError `agent_not_found`
   */
  async load(agent: AgentPlace): Promise<Facts> {
    const row = await this.ask(agent).catch(() => undefined);
    if (row === undefined) return this.makeDo(agent);
    if (row === null) throw new DroverError('agent_not_found');
    return this.learn(row);
  }

  /** Stores facts that were just read. */
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

  private entryOf({ workspaceId, agentId }: AgentPlace): Entry | undefined {
    return this.entries.get(agentId)?.get(workspaceId);
  }

  private remember(facts: Facts, freshMs: number): void {
    const { workspaceId, agentId } = facts;
    const isNew = this.entryOf(facts) === undefined;
    if (isNew && this.size >= MAX_AGENTS) this.dropOldest();
    if (isNew) this.size += 1;
    const ofId = this.entries.get(agentId) ?? new Map<string, Entry>();
    this.entries.set(agentId, ofId);
    ofId.set(workspaceId, { facts, freshUntil: performance.now() + freshMs });
  }

  private dropOldest(): void {
    for (const [agentId, ofId] of this.entries) {
      this.entries.delete(agentId);
      this.size -= ofId.size;
      return;
    }
  }

  private invalidate(agentId: string): void {
    this.entries.get(agentId)?.forEach((entry) => (entry.freshUntil = 0));
  }

  private makeDo({ workspaceId, agentId }: AgentPlace): Facts {
    const facts = this.entryOf({ workspaceId, agentId })?.facts ?? {
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
  private ask(agent: AgentPlace): Promise<AgentFactsRow | null> {
    if (this.waiters.size === 0) setImmediate(() => void this.answerAll());
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('no answer in time')), LOAD_TIMEOUT_MS);
      const settle = (answer: Answer): void => {
        clearTimeout(late);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      };
      const key = agentKey(agent);
      const settles = [...(this.waiters.get(key)?.settles ?? []), settle];
      this.waiters.set(key, { agent, settles });
    });
  }

  private async answerAll(): Promise<void> {
    const waiters = this.waiters;
    this.waiters = new Map();
    const agents = [...waiters.values()].map(({ agent }) => agent);
    const asked = [agents.map((one) => one.workspaceId), agents.map((one) => one.agentId)];
    let answerOf: (key: string) => Answer;
    try {
      const rows = await this.database.service.rows(agentFacts, asked);
      const byKey = new Map(rows.map((row) => [keyOf(row), row]));
      answerOf = (key) => byKey.get(key) ?? null;
    } catch (error) {
      answerOf = () => error as Error;
    }
    for (const [key, { settles }] of waiters) for (const settle of settles) settle(answerOf(key));
  }
}

function keyOf({ workspace_id: workspaceId, id: agentId }: AgentFactsRow): string {
  return agentKey({ workspaceId, agentId });
}
