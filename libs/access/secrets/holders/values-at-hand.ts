import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { agentKey, type AgentPlace } from '#lib/kernel';
import type { SecretValues } from '../domain/secret-values.js';
import type { KnownValues } from '../domain/secret-walk.js';

/** Values of agents that no longer report are forgotten after this time. */
const REMEMBERED_MS = 300_000;
const REMEMBERED_AGENTS = 10_000;
/** The maximum number of runs that an agent can hold at once. */
const MOST_RUNS = 1_000;
/** An agent's last runs are known as long as it reports, because it can repeat words of ended ones. */
const LAST_RUNS = 20;

/** The values of one agent's runs. The run that was met earliest is the first. */
type ValuesOfRuns = Map<string, { values: SecretValues; metAt: number }>;

/**
 * The secret values of agents' work that this process met recently, in a claim, report or
 * heartbeat. A heartbeat names no run and must not cost a query. The values outlive the run: a
 * heartbeat can arrive after the end.
 */
@Injectable()
export class ValuesAtHand {
  private readonly byAgent = new LRUCache<string, ValuesOfRuns>({
    max: REMEMBERED_AGENTS,
    ttl: REMEMBERED_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  });

  note(agent: AgentPlace, runId: string, values: SecretValues): void {
    if (values.isEmpty) return;
    const key = agentKey(agent);
    const known: ValuesOfRuns = this.byAgent.get(key) ?? new Map();
    const now = performance.now();
    // A run that is met again becomes the last one.
    known.delete(runId);
    known.set(runId, { values, metAt: now });
    for (const [id, { metAt }] of known) {
      if (known.size <= LAST_RUNS) break;
      // The heartbeats of an agent meet the runs that it holds again and again.
      if (known.size <= MOST_RUNS && now - metAt < REMEMBERED_MS) break;
      known.delete(id);
    }
    this.byAgent.set(key, known);
  }

  of(agent: AgentPlace): KnownValues {
    const known = [...(this.byAgent.get(agentKey(agent))?.values() ?? [])];
    const hide = (text: string) => known.reduce((shown, { values }) => values.hide(shown), text);
    return { isEmpty: known.length === 0, hide };
  }
}
