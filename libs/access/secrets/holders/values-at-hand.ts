import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { agentKey, type AgentPlace } from '#lib/kernel';
import type { SecretValues } from '../domain/secret-values.js';
import type { KnownValues } from '../domain/secret-walk.js';

/** Values of agents that no longer report are forgotten after this time. */
const REMEMBERED_MS = 300_000;
const REMEMBERED_AGENTS = 10_000;
/** Maximum number of runs of one agent. The earliest is evicted. */
const REMEMBERED_RUNS = 20;

/**
 * The secret values of agents' work that this process met recently, in a claim, report or
 * heartbeat. A heartbeat names no run and must not cost a query. The values outlive the run: a
 * heartbeat can arrive after the end.
 */
@Injectable()
export class ValuesAtHand {
  private readonly byAgent = new LRUCache<string, Map<string, SecretValues>>({
    max: REMEMBERED_AGENTS,
    ttl: REMEMBERED_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  });

  note(agent: AgentPlace, runId: string, values: SecretValues): void {
    if (values.isEmpty) return;
    const key = agentKey(agent);
    const known = new Map(this.byAgent.get(key)).set(runId, values);
    const [earliest] = known.keys();
    if (known.size > REMEMBERED_RUNS && earliest !== undefined) known.delete(earliest);
    this.byAgent.set(key, known);
  }

  of(agent: AgentPlace): KnownValues {
    const known = [...(this.byAgent.get(agentKey(agent))?.values() ?? [])];
    const hide = (text: string) => known.reduce((shown, values) => values.hide(shown), text);
    return { isEmpty: known.length === 0, hide };
  }
}
