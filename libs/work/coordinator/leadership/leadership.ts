import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, type Fence, firstRow } from '#lib/database';
import { ValkeyClient, ValkeyLock } from '#lib/valkey';
import { renewLeadership, resignLeadership, seizeLeadership } from '../store/leadership.sql.js';
import { fenceFor } from './fence.js';

const LOCK_KEY = 'coordinator:lock:global';

interface Term {
  epoch: string;
  confirmedAt: number;
}

/**
 * The leader holds the lock in Valkey. Without Valkey, it holds the lease in Postgres, which every
 * leader renews as well. Neither can exclude two leaders for certain. The epoch can: a new leader
 * raises it, and every transaction of a sweep checks it.
 */
@Injectable()
export class Leadership {
  readonly instanceId: string;
  readonly ttlMs: number;
  private readonly lock: ValkeyLock;
  private term: Term | undefined;

  constructor(
    private readonly database: Database,
    valkey: ValkeyClient,
    @Inject(CONFIG) config: Pick<Config, 'coordinator' | 'instanceId'>,
  ) {
    this.instanceId = config.instanceId ?? `coord-${randomBytes(3).toString('hex')}`;
    this.ttlMs = config.coordinator.lockTtlSeconds * 1_000;
    this.lock = new ValkeyLock(valkey, { key: LOCK_KEY, ttlMs: this.ttlMs });
  }

  /** The latest confirmed epoch in which this process leads. */
  get epoch(): string | undefined {
    return this.term?.epoch;
  }

  /** Milliseconds between calls of `keep`. */
  get tickMs(): number {
    return this.ttlMs / 3;
  }

  /**
   * Renews the leadership when a third of its time has passed, or tries to win it.
   *
   * @returns whether this process leads
   * @throws DroverError when Postgres cannot be reached; the lock is then given up for a server
   *   that can
   */
  async keep(): Promise<boolean> {
    if (this.term && performance.now() - this.term.confirmedAt < this.tickMs) return true;
    const askedAt = performance.now();
    const locked = await this.lock.acquire();
    if (locked === 'lost') {
      this.term = undefined;
      return false;
    }
    try {
      const epoch = this.term
        ? await this.renew(this.term.epoch)
        : await this.seize(locked === 'held');
      this.term = epoch === undefined ? undefined : { epoch, confirmedAt: askedAt };
    } catch (error) {
      await this.standDown();
      throw error;
    }
    if (!this.term) await this.lock.release();
    return this.term !== undefined;
  }

  /** The fence for the sweeps of this term. */
  fence(): Fence {
    return fenceFor(this.epoch ?? '-1', this.ttlMs);
  }

  /**
   * Gives up the lock without writing to Postgres: another server leads, or Postgres cannot be
   * reached.
   */
  async standDown(): Promise<void> {
    this.term = undefined;
    await this.lock.release();
  }

  /** Gives up the leadership, so another server can lead at once. */
  async resign(): Promise<void> {
    const { epoch } = this;
    await this.standDown();
    if (epoch !== undefined) await this.database.service.rows(resignLeadership, [epoch]);
  }

  private async renew(epoch: string): Promise<string | undefined> {
    const params = [epoch, this.ttlMs / 1_000];
    return (await firstRow(this.database.service, renewLeadership, params))?.epoch;
  }

  private async seize(unconditionally: boolean): Promise<string | undefined> {
    const params = [this.instanceId, this.ttlMs / 1_000, unconditionally];
    return (await firstRow(this.database.service, seizeLeadership, params))?.epoch;
  }
}
