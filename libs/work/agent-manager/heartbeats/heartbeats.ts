import { Injectable } from '@nestjs/common';
import { type Caller, DroverError } from '#lib/kernel';
import { HeartbeatStore } from '#lib/valkey';
import { requireSelfOrRun } from '../domain/require-self.js';
import { refuseTooMuch } from '../domain/metadata.js';
import { AgentFacts, type Facts } from './agent-facts.js';
import { type HeartbeatBody, HeartbeatBuffer } from './heartbeat-buffer.js';

export interface HeartbeatAnswer {
  acknowledgedAt: string;
  /** Time at which the next heartbeat is due. */
  nextExpectedAt: string;
}

/** Called for each accepted heartbeat on the hottest path, so it must not wait. */
export type HeartbeatListener = (caller: Caller, body: HeartbeatBody) => void;

/**
 * Accepts heartbeats. The hottest path of the server: one key in Valkey, one entry in the buffer,
 * no query. It works without Valkey (the buffer goes to Postgres) and without Postgres (the buffer
 * waits).
 */
@Injectable()
export class Heartbeats {
  private readonly listeners: HeartbeatListener[] = [];

  constructor(
    private readonly facts: AgentFacts,
    private readonly buffer: HeartbeatBuffer,
    private readonly store: HeartbeatStore,
  ) {}

  listen(listener: HeartbeatListener): void {
    this.listeners.push(listener);
  }

  /**
   * @returns at once if Valkey need not be waited for
   * @throws DroverError `agent_not_found` (another agent's id), `agent_terminated`,
   *   `validation_failed` (too much metadata)
   */
  heartbeat(
    caller: Caller,
    agentId: string,
    body: HeartbeatBody,
  ): HeartbeatAnswer | Promise<HeartbeatAnswer> {
    const agent = requireSelfOrRun(caller, agentId);
    const now = performance.now();
    const facts = this.facts.peek(agent, now);
    for (const listener of this.listeners) listener(caller, body);
    if (facts) return this.take(facts, body, now);
    return this.facts.load(agent).then((loaded) => this.take(loaded, body, now));
  }

  private take(
    facts: Facts,
    body: HeartbeatBody,
    receivedAt: number,
  ): HeartbeatAnswer | Promise<HeartbeatAnswer> {
    const { workspaceId, agentId, lifecycle, staleThresholdSeconds } = facts;
    if (lifecycle === 'TERMINATED') throw new DroverError('agent_terminated');
    refuseTooMuch(body.metadata);
    this.buffer.put({ workspaceId, agentId, body, receivedAt });
    const { status, currentTaskId } = body;
    const sent = this.store.record({
      workspaceId,
      agentId,
      staleThresholdSeconds,
      status,
      currentTaskId,
    });
    return sent ? sent.then(() => acknowledge(facts)) : acknowledge(facts);
  }
}

let latest = { at: 0, intervalSeconds: 0, answer: { acknowledgedAt: '', nextExpectedAt: '' } };

/**
 * Many heartbeats arrive in one millisecond, most with the same interval, so their answer is
 * formatted once.
 */
function acknowledge({ heartbeatIntervalSeconds: intervalSeconds }: Facts): HeartbeatAnswer {
  const at = Date.now();
  if (latest.at !== at || latest.intervalSeconds !== intervalSeconds) {
    const acknowledgedAt = new Date(at).toISOString();
    const nextExpectedAt = new Date(at + intervalSeconds * 1000).toISOString();
    latest = { at, intervalSeconds, answer: { acknowledgedAt, nextExpectedAt } };
  }
  return latest.answer;
}
