import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '#lib/database';
import { agentKey, type AgentPlace, growingTo } from '#lib/kernel';
import {
  hasRoomForSecret,
  type KnownValues,
  originalsOf,
  secretsOfHolders,
  TaskSecrets,
  ValuesAtHand,
} from '#lib/secrets';
import type { PendingHeartbeat } from './heartbeat-buffer.js';

/** Fewer agents and a shorter time than those of `ValuesAtHand`, which so has their values. */
const REMEMBERED_TEXTS = 5_000;
const REMEMBERED_TEXT_MS = 60_000;
/** A secret that reaches a task during its run is known after this time. */
const REMEMBERED_RUN_MS = 30_000;
const REMEMBERED_RUNS = 10_000;

/**
 * The secret values that heartbeats can repeat: those of the runs that their agents hold, whichever server
 * met the runs. A batch needs at most one query, and an agent that repeats its words needs none.
 */
@Injectable()
export class HeartbeatValues {
  private readonly texts = new LRUCache<string, string>({
    ...growingTo(REMEMBERED_TEXTS),
    ttl: REMEMBERED_TEXT_MS,
  });
  private readonly runs = new LRUCache<string, true>({
    ...growingTo(REMEMBERED_RUNS),
    ttl: REMEMBERED_RUN_MS,
  });

  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly atHand: ValuesAtHand,
  ) {}

  /** Reads the values that the words of these heartbeats need. */
  async learn(batch: readonly PendingHeartbeat[]): Promise<void> {
    const said = batch.map((heartbeat) => [heartbeat, digestOf(heartbeat)] as const);
    const fresh = said.filter(([agent, digest]) => {
      return digest !== undefined && this.texts.get(agentKey(agent)) !== digest;
    });
    if (fresh.length === 0) return;
    const places = [
      fresh.map(([{ workspaceId }]) => workspaceId),
      fresh.map(([{ agentId }]) => agentId),
    ];
    for (const row of await this.database.service.rows(secretsOfHolders, places)) {
      const { workspace_id: workspaceId, agent_id: agentId, run_id: runId } = row;
      if (this.runs.has(runId)) continue;
      const { values } = await this.secrets.valuesOf(originalsOf(row));
      this.atHand.note({ workspaceId, agentId }, runId, values);
      this.runs.set(runId, true);
    }
    for (const [agent, digest] of fresh) this.texts.set(agentKey(agent), digest ?? '');
  }

  of(agent: AgentPlace): KnownValues {
    return this.atHand.of(agent);
  }
}

/** @returns undefined if the heartbeat has no room for a secret */
function digestOf({ body: { currentStep, metadata } }: PendingHeartbeat): string | undefined {
  const words = [currentStep, metadata];
  if (!hasRoomForSecret(words)) return undefined;
  return createHash('sha256').update(JSON.stringify(words)).digest('base64');
}
