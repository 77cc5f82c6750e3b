import { agentKey, type AgentPlace } from '#lib/kernel';
import type { ValkeyClient } from '../connection/valkey-client.js';

/** The latest heartbeat of an agent that Valkey has. */
export interface Heartbeat extends AgentPlace {
  status: string;
  currentTaskId?: string | null;
  /** Seconds without a heartbeat after which the agent counts as dead. */
  staleThresholdSeconds: number;
}

/** Extra lifetime of a key beyond the threshold, so that its remaining time gives the deadline. */
const TTL_MARGIN_SECONDS = 60;
/** Lifetime of a view of a heartbeat. */
const VIEW_TTL_SECONDS = 60;
const PER_SCRIPT = 500;
/** Milliseconds for which heartbeats bypass Valkey after a command without an answer. */
const PAUSE_MS = 1_000;

const RECORD_HEARTBEATS = `for i, key in ipairs(KEYS) do
  redis.call('setex', key, ARGV[2 * i - 1], ARGV[2 * i])
end
return 1`;

/**
 * The same with the keys of views (`libs/events/runtime-views`). The hash belongs to its writer, so
 * it is not created here: the agent may be terminated.
 */
const RECORD_WITH_VIEWS = `for i = 1, #KEYS, 3 do
  redis.call('setex', KEYS[i], ARGV[i], ARGV[i + 1])
  redis.call('setex', KEYS[i + 1], ${VIEW_TTL_SECONDS}, ARGV[i + 1])
  if redis.call('exists', KEYS[i + 2]) == 1 then
    redis.call('hset', KEYS[i + 2], 'last_heartbeat', ARGV[i + 2])
  end
end
return 1`;

const READ_LIVES = `local lives = {}
for i, key in ipairs(KEYS) do lives[i] = redis.call('pttl', key) end
return lives`;

/** Lifetime of a heartbeat's key, in seconds. */
export function heartbeatTtlSeconds(staleThresholdSeconds: number): number {
  return staleThresholdSeconds + TTL_MARGIN_SECONDS;
}

/**
 * Heartbeats in Valkey: the newest signs of life, shared by all servers. A missing one proves
 * nothing. Postgres has the same a second later.
 */
export class HeartbeatStore {
  private batch: Batch | undefined;
  /**
   * 0 while Valkey works. Otherwise the time of the next attempt, on the clock of
   * performance.now().
   */
  private retryAt = 0;

  constructor(
    private readonly client: ValkeyClient,
    private readonly views = false,
  ) {}

  /**
   * Writes the heartbeat's key. Resolves when Valkey stored it or did not answer in time. Never
   * rejects.
   *
   * The heartbeats of one turn of the event loop go as one script. One command for each, pipelined
   * by the library, was tried: its promises, timers and callbacks cost a heartbeat a tenth of its
   * time.
   *
   * @returns undefined if Valkey is not asked because it is down or failed to answer just now
   */
  record(heartbeat: Heartbeat): Promise<void> | undefined {
    if (this.client.state() !== 'ready') return undefined;
    if (this.retryAt !== 0 && !this.mayProbe()) return undefined;
    const batch = (this.batch ??= this.openBatch());
    const at = Date.now();
    batch.keys.push(keyOf(heartbeat));
    batch.values.push(heartbeatTtlSeconds(heartbeat.staleThresholdSeconds), valueOf(heartbeat, at));
    if (this.views) {
      const { agentId } = heartbeat;
      batch.keys.push(`agent:heartbeat:${agentId}`, `agent:status:${agentId}`);
      batch.values.push(at);
    }
    batch.size += 1;
    if (batch.size === PER_SCRIPT) this.batch = undefined;
    return batch.sent;
  }

  /**
   * Milliseconds until each agent's silence exceeds its threshold, by `agentKey`, on Valkey's
   * clock. Negative if it already does. Agents that Valkey does not know are missing, and all are
   * missing while Valkey is down. That proves nothing about an agent.
   */
  async deadlinesOf(agents: readonly AgentPlace[]): Promise<Map<string, number>> {
    const known = new Map<string, number>();
    for (const part of slices(agents)) {
      const keys = part.map(keyOf);
      const answer = await this.client.attempt((commands) =>
        commands.eval(READ_LIVES, keys.length, ...keys),
      );
      if (answer.kind !== 'done') break;
      const lives = answer.value as number[];
      part.forEach((agent, index) => {
        const left = lives[index] ?? -1;
        if (left >= 0) known.set(agentKey(agent), left - TTL_MARGIN_SECONDS * 1000);
      });
    }
    return known;
  }

  /** Only one heartbeat at a time tests whether Valkey answers again. */
  private mayProbe(): boolean {
    const now = performance.now();
    if (now < this.retryAt) return false;
    this.retryAt = now + PAUSE_MS;
    return true;
  }

  private openBatch(): Batch {
    const batch: Omit<Batch, 'sent'> = { keys: [], values: [], size: 0 };
    const sent = new Promise<void>((resolve) => {
      setImmediate(() => void this.send(batch).then(resolve));
    });
    return Object.assign(batch, { sent });
  }

  private async send(batch: Omit<Batch, 'sent'>): Promise<void> {
    if (this.batch?.keys === batch.keys) this.batch = undefined;
    const { keys, values } = batch;
    const script = this.views ? RECORD_WITH_VIEWS : RECORD_HEARTBEATS;
    const answer = await this.client.change((commands) =>
      commands.eval(script, keys.length, ...keys, ...values),
    );
    this.retryAt = answer.kind === 'done' ? 0 : performance.now() + PAUSE_MS;
  }
}

/** Heartbeats that are written together. */
interface Batch {
  keys: string[];
  values: (string | number)[];
  /** The number of heartbeats. */
  size: number;
  sent: Promise<void>;
}

function keyOf(agent: AgentPlace): string {
  return `agent:heartbeat:${agentKey(agent)}`;
}

function valueOf({ status, currentTaskId }: Heartbeat, at: number): string {
  // Built by hand, because it happens thousands of times a second. The status is a word and the id
  // a UUID.
  const task = currentTaskId ? `"${currentTaskId}"` : 'null';
  return `{"status":"${status}","task_id":${task},"timestamp":${at}}`;
}

function slices<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / PER_SCRIPT);
  return Array.from({ length: count }, (_, i) => all.slice(i * PER_SCRIPT, (i + 1) * PER_SCRIPT));
}
