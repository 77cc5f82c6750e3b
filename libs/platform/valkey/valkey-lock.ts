import { randomUUID } from 'node:crypto';
import type { ValkeyClient } from './valkey-client.js';

/**
 * - held: the server has just confirmed it.
 * - lost: the server has just said that somebody else holds it, or nobody.
 * - unknown: no answer. It may be held until `heldUntil()`; a caller that must be sure acts as if lost.
 */
export type LockState = 'held' | 'lost' | 'unknown';

export interface LockOptions {
  key: string;
  /** Milliseconds that the lock outlives its holder's last renewal. */
  ttlMs: number;
  /** Default: a random one. Never a host's name: a restarted process is another owner. */
  owner?: string;
}

// Also succeeds for its present holder: after an answer that got lost, the same call asks again.
const ACQUIRE = `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`;

const RENEW = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`;

const RELEASE = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`;

/**
 * A lock that saves work. It cannot keep two holders apart under all circumstances (a process that
 * was asleep wakes up after its time): what must not happen twice needs a fence in Postgres as well.
 */
export class ValkeyLock {
  readonly owner: string;
  private until = 0;

  constructor(
    private readonly client: ValkeyClient,
    private readonly options: LockOptions,
  ) {
    this.owner = options.owner ?? randomUUID();
  }

  /** Takes the lock if it is free, or renews it. */
  acquire(): Promise<LockState> {
    return this.extend(ACQUIRE);
  }

  /** To be called about every third of the time to live. */
  renew(): Promise<LockState> {
    return this.extend(RENEW);
  }

  /** Gives it up, if it is still ours. `held` means that it was. */
  async release(): Promise<LockState> {
    this.until = 0;
    return this.ask(RELEASE);
  }

  /**
   * Until when nobody else can have it, on the clock of `performance.now()`; 0 when it isn't held.
   * Counted from before the request was sent, so it errs on the safe side.
   */
  heldUntil(): number {
    return this.until;
  }

  private async extend(script: string): Promise<LockState> {
    const askedAt = performance.now();
    const state = await this.ask(script);
    if (state === 'held') this.until = askedAt + this.options.ttlMs;
    if (state === 'lost') this.until = 0;
    return state;
  }

  private async ask(script: string): Promise<LockState> {
    const { key, ttlMs } = this.options;
    const answer = await this.client.attempt((commands) =>
      commands.eval(script, 1, key, this.owner, ttlMs),
    );
    if (answer.kind !== 'done') return 'unknown';
    return answer.value === 1 ? 'held' : 'lost';
  }
}
