import { agentKey, type AgentPlace } from '#lib/kernel';
import type { ValkeyClient } from './valkey-client.js';

/** The latest heartbeat of an agent, as far as Valkey is concerned. */
export interface Heartbeat extends AgentPlace {
  status: string;
  currentTaskId?: string | null;
  /** Seconds of silence after which the agent counts as gone. */
  staleThresholdSeconds: number;
}

/** How much longer than the threshold a key lives, so that its remaining time tells the deadline. */
const TTL_MARGIN_SECONDS = 60;
const PER_SCRIPT = 500;
/** After a command without an answer, heartbeats go without Valkey for this long. */
const PAUSE_MS = 1_000;

const RECORD_HEARTBEATS = `for i, key in ipairs(KEYS) do
  redis.call('setex', key, ARGV[2 * i - 1], ARGV[2 * i])
end
return 1`;

const READ_LIVES = `local lives = {}
for i, key in ipairs(KEYS) do lives[i] = redis.call('pttl', key) end
return lives`;

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
    batch.keys.push(keyOf(heartbeat));
    batch.values.push(heartbeatTtlSeconds(heartbeat.staleThresholdSeconds), valueOf(heartbeat));
    if (batch.keys.length === PER_SCRIPT) this.batch = undefined;
    return batch.sent;
  }

  /**
   * Milliseconds until each agent's silence lasts longer than its threshold, by `agentKey`; negative when it does
   * already. By Valkey's clock alone. An agent of which Valkey knows nothing is not in it, and none is when Valkey is
   * away: that proves nothing about the agent.
   */
  async deadlinesOf(agents: readonly AgentPlace[]): Promise<Map<string, number>> {
    const known = new Map<string, number>();
    for (const part of slices(agents)) {
      const keys = [...part.map(keyOf), ...part.map(formerKeyOf)];
      const answer = await this.client.attempt((commands) =>
        commands.eval(READ_LIVES, keys.length, ...keys),
      );
      if (answer.kind !== 'done') break;
      const lives = answer.value as number[];
      part.forEach((agent, index) => {
        const left = Math.max(lives[index] ?? -1, lives[part.length + index] ?? -1);
        if (left >= 0) known.set(agentKey(agent), left - TTL_MARGIN_SECONDS * 1000);
      });
    }
    return known;
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
    const answer = await this.client.change((commands) =>
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

function keyOf(agent: AgentPlace): string {
  return `agent:heartbeat:${agentKey(agent)}`;
}

/**
 * As servers of the version before write it, whose agents are to be spared while servers are upgraded one by one. To
 * be dropped with the next version.
 */
function formerKeyOf({ agentId }: AgentPlace): string {
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
