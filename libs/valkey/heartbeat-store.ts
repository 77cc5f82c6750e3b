import type { ValkeyClient } from './valkey-client.js';

/** The latest heartbeat of an agent, as far as Valkey is concerned. */
export interface Heartbeat {
  agentId: string;
  status: string;
  currentTaskId?: string | null;
  /** Seconds of silence after which the agent counts as gone. */
  staleThresholdSeconds: number;
}

export interface AgentDeadlines {
  /**
   * Milliseconds until the agent's silence lasts longer than its threshold; negative when it does
   * already. By Valkey's clock alone. An agent of which Valkey knows nothing is not in it.
   */
  known: Map<string, number>;
  /** For how long Valkey has kept everything that it was told, in milliseconds; 0 when it can't be asked. */
  rememberedMs: number;
  /** Whether an agent that is not in `known` has really been unresponsive for the time that was asked about. */
  evidence: boolean;
}

const INDEX_KEY = 'coordinator:agent_deadlines';
const EPOCH_KEY = 'coordinator:heartbeat_epoch';
/** How much longer than the threshold a key lives, so that its remaining time tells the deadline. */
const TTL_MARGIN_SECONDS = 60;
/** How long the index keeps a deadline that has passed. */
const KEEP_PASSED_MS = 86_400_000;
const PER_SCRIPT = 500;
/** After a command without an answer, heartbeats go without Valkey for this long. */
const PAUSE_MS = 1_000;

const NOW = `local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

const RECORD_HEARTBEATS = `for i, key in ipairs(KEYS) do
  redis.call('setex', key, ARGV[2 * i - 1], ARGV[2 * i])
end
return 1`;

// A deadline only moves forward (GT): two servers may flush heartbeats of one agent in either order.
const INDEX_DEADLINES = `${NOW}
for i = 2, #ARGV, 2 do
  redis.call('zadd', KEYS[1], 'GT', string.format('%.0f', now + ARGV[i + 1]), ARGV[i])
end
redis.call('zremrangebyscore', KEYS[1], '-inf', string.format('%.0f', now - ARGV[1]))
return 1`;

// The epoch begins again when its key is gone (somebody flushed) or names another life of the server (it was
// restarted, and may have an old snapshot).
const READ_DEADLINES = `${NOW}
local life = string.match(redis.call('info', 'server'), 'run_id:(%w+)')
if redis.call('hget', KEYS[2], 'life') ~= life then
  redis.call('del', KEYS[2])
  redis.call('hset', KEYS[2], 'life', life, 'since', string.format('%.0f', now))
end
local answer = { now - redis.call('hget', KEYS[2], 'since') }
for i = 2, #ARGV do
  local indexed = redis.call('zscore', KEYS[1], ARGV[i])
  local left = redis.call('pttl', KEYS[i + 1])
  local deadline = false
  if indexed then deadline = indexed - now end
  if left >= 0 and (not deadline or left - ARGV[1] > deadline) then deadline = left - ARGV[1] end
  answer[i] = deadline
end
return answer`;

/** Seconds that the key of a heartbeat lives. */
export function heartbeatTtlSeconds(staleThresholdSeconds: number): number {
  return staleThresholdSeconds + TTL_MARGIN_SECONDS;
}

/**
 * Heartbeats in Valkey: the newest signs of life, shared by all servers, and worth nothing when they are
 * absent. Postgres has the same a second later.
 */
export class HeartbeatStore {
  private batch: Batch | undefined;
  /** 0 while all is well; else when Valkey may be asked again, on the clock of performance.now(). */
  private retryAt = 0;

  constructor(private readonly client: ValkeyClient) {}

  /**
   * Writes the heartbeat's key. Settles when Valkey has it or did not answer in time; never rejects.
   *
   * The heartbeats of one turn of the event loop go as one script. Tried: a command for each, pipelined by
   * the library; its promises, timers and callbacks cost a heartbeat a tenth of its time.
   *
   * @returns undefined when Valkey is not asked: it is down, or has just failed to answer
   */
  record(heartbeat: Heartbeat): Promise<void> | undefined {
    if (this.client.state() !== 'ready') return undefined;
    if (this.retryAt !== 0 && !this.mayProbe()) return undefined;
    const batch = (this.batch ??= this.openBatch());
    batch.keys.push(keyOf(heartbeat.agentId));
    batch.values.push(heartbeatTtlSeconds(heartbeat.staleThresholdSeconds), valueOf(heartbeat));
    if (batch.keys.length === PER_SCRIPT) this.batch = undefined;
    return batch.sent;
  }

  /**
   * Moves agents' deadlines in the index forward, for a batch of heartbeats.
   *
   * @param heartbeats ageMs: how long ago the heartbeat came, in milliseconds
   * @returns whether Valkey has taken all of them
   */
  async indexDeadlines(
    heartbeats: readonly { agentId: string; ageMs: number; staleThresholdSeconds: number }[],
  ): Promise<boolean> {
    for (const part of slices(heartbeats)) {
      const args = part.flatMap(({ agentId, ageMs, staleThresholdSeconds }) => [
        agentId,
        Math.round(staleThresholdSeconds * 1000 - ageMs),
      ]);
      const sent = await this.client.attempt((commands) =>
        commands.eval(INDEX_DEADLINES, 1, INDEX_KEY, KEEP_PASSED_MS, ...args),
      );
      if (sent.kind !== 'done') return false;
    }
    return true;
  }

  /**
   * The agents' deadlines in Valkey, from the index and from the heartbeats' own keys.
   *
   * @param silenceMs the longest threshold among the agents: `evidence` says whether Valkey has
   *   remembered everything for at least this long
   */
  async deadlinesOf(agentIds: readonly string[], silenceMs = 180_000): Promise<AgentDeadlines> {
    const known = new Map<string, number>();
    let rememberedMs = Infinity;
    for (const part of agentIds.length === 0 ? [[]] : slices(agentIds)) {
      const answer = await this.readDeadlines(part);
      if (!answer) return { known, rememberedMs: 0, evidence: false };
      const [remembered, ...deadlines] = answer;
      rememberedMs = Math.min(rememberedMs, remembered ?? 0);
      part.forEach((agentId, index) => {
        const deadline = deadlines[index];
        if (typeof deadline === 'number') known.set(agentId, deadline);
      });
    }
    return { known, rememberedMs, evidence: rememberedMs >= silenceMs };
  }

  private async readDeadlines(agentIds: readonly string[]): Promise<(number | null)[] | undefined> {
    const keys = [INDEX_KEY, EPOCH_KEY, ...agentIds.map(keyOf)];
    const args = [TTL_MARGIN_SECONDS * 1000, ...agentIds];
    const answer = await this.client.attempt((commands) =>
      commands.eval(READ_DEADLINES, keys.length, ...keys, ...args),
    );
    return answer.kind === 'done' ? (answer.value as (number | null)[]) : undefined;
  }

  /** One heartbeat at a time finds out whether Valkey answers again. */
  private mayProbe(): boolean {
    const now = performance.now();
    if (now < this.retryAt) return false;
    this.retryAt = now + PAUSE_MS;
    return true;
  }

  private openBatch(): Batch {
    const batch: Omit<Batch, 'sent'> = { keys: [], values: [] };
    const sent = new Promise<void>((resolve) => {
      setImmediate(() => void this.send(batch).then(resolve));
    });
    return Object.assign(batch, { sent });
  }

  private async send(batch: Omit<Batch, 'sent'>): Promise<void> {
    if (this.batch?.keys === batch.keys) this.batch = undefined;
    const { keys, values } = batch;
    const answer = await this.client.attempt((commands) =>
      commands.eval(RECORD_HEARTBEATS, keys.length, ...keys, ...values),
    );
    this.retryAt = answer.kind === 'done' ? 0 : performance.now() + PAUSE_MS;
  }
}

/** Heartbeats that go together. */
interface Batch {
  keys: string[];
  values: (string | number)[];
  sent: Promise<void>;
}

function keyOf(agentId: string): string {
  return `agent:heartbeat:${agentId}`;
}

function valueOf({ status, currentTaskId }: Heartbeat): string {
  // By hand, because it is made thousands of times a second: the status is a word, the id a UUID.
  const task = currentTaskId ? `"${currentTaskId}"` : 'null';
  return `{"status":"${status}","task_id":${task},"timestamp":${Date.now()}}`;
}

function slices<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / PER_SCRIPT);
  return Array.from({ length: count }, (_, i) => all.slice(i * PER_SCRIPT, (i + 1) * PER_SCRIPT));
}
