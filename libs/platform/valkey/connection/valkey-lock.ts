import { randomUUID } from 'node:crypto';
import type { ValkeyClient } from './valkey-client.js';

/**
 * - held: the server has just confirmed it.
 * - lost: the server has just said that another owner holds it, or none.
 * - unknown: no answer. It may be held until `heldUntil()`. A caller that must be sure acts as if
 *   it is lost.
 */
export type LockState = 'held' | 'lost' | 'unknown';

export interface LockOptions {
  key: string;
  /** Milliseconds for which the lock outlives its holder's last renewal. */
  ttlMs: number;
  /**
   * Default: a random owner. Never use a host name, because a restarted process is another owner.
   */
  owner?: string;
}

// Also succeeds for the current holder, so that the same call asks again after a lost answer.
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
 * A lock that saves work. It cannot separate two holders in all cases, because a sleeping process
 * can wake after its time. Work that must not happen twice also needs a fence in Postgres.
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

  /** Call it about every third of the time to live. */
  renew(): Promise<LockState> {
    return this.extend(RENEW);
  }

  /** Releases the lock if it is still held. `held` means that it was. */
  async release(): Promise<LockState> {
    this.until = 0;
    return this.ask(RELEASE);
  }

  /**
   * The time until which no other owner can have it, on the clock of `performance.now()`. 0 if it
   * is not held. Counted from before the request was sent, so it errs on the safe side.
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
