import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import {
  admits,
  drainBetween,
  isOutdated,
  type KnownDepth,
  neverAdmits,
  retryAfterSeconds,
} from '../domain/queue-depth.js';
import { queueDepth } from './queue-depth.sql.js';

const REMEMBERED_WORKSPACES = 10_000;

/**
 * Enforces the depth of workspaces' queues. It decides in memory from a count that is at most a
 * second old near the limit, so creating a task costs no count. `isOutdated` says by how much
 * several servers can exceed the limit. One server alone never exceeds it: tasks that are admitted
 * and not yet committed are added to the count.
 */
@Injectable()
export class QueueDepths {
  private readonly known = new LRUCache<string, KnownDepth>({ max: REMEMBERED_WORKSPACES });
  private readonly counting = new Map<string, Promise<KnownDepth>>();
  /** Tasks that were admitted and are being written. */
  private readonly underWay = new Map<string, number>();

  constructor(
    private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<Config, 'admission'>,
  ) {}

  /**
   * Admits `count` tasks, which `write` then creates, or refuses all. Tasks that were admitted and
   * then fail for another reason keep their place until the next count.
   *
   * @throws DroverError `queue_full` with the depth, the limit and Retry-After; `exceeds_queue`
   *   with the limit if waiting cannot help
   */
  async within<T>(workspaceId: string, count: number, write: () => Promise<T>): Promise<T> {
    const known = this.known.get(workspaceId);
    const isKnown = known !== undefined && !isOutdated(known, performance.now());
    take(isKnown ? known : await this.count(workspaceId), count);
    this.addUnderWay(workspaceId, count);
    try {
      return await write();
    } finally {
      this.addUnderWay(workspaceId, -count);
    }
  }

  /** Discards the count after a change of the limit. */
  forget(workspaceId: string): void {
    this.known.delete(workspaceId);
  }

  /** Concurrent callers share one count. */
  private count(workspaceId: string): Promise<KnownDepth> {
    const underWay = this.counting.get(workspaceId);
    if (underWay) return underWay;
    const count = this.read(workspaceId).finally(() => this.counting.delete(workspaceId));
    this.counting.set(workspaceId, count);
    return count;
  }

  private addUnderWay(workspaceId: string, count: number): void {
    const left = (this.underWay.get(workspaceId) ?? 0) + count;
    if (left === 0) this.underWay.delete(workspaceId);
    else this.underWay.set(workspaceId, left);
  }

  private async read(workspaceId: string): Promise<KnownDepth> {
    const start = performance.now();
    // Tasks that commit before the count starts are counted twice until the next count.
    const admitted = this.underWay.get(workspaceId) ?? 0;
    const params = [workspaceId, this.config.admission.maxQueueDepth];
    const row = await firstRow(this.database.tenant(workspaceId), queueDepth, params);
    const { counted, limit } = row ?? { counted: 0, limit: 0 };
    const countedAt = performance.now();
    const before = this.known.get(workspaceId);
    const known: KnownDepth = {
      counted,
      limit,
      countedAt,
      countingMs: countedAt - start,
      admitted,
      drainPerSecond: drainBetween(before, { counted, countedAt }),
    };
    this.known.set(workspaceId, known);
    return known;
  }
}

function take(known: KnownDepth, count: number): void {
  if (admits(known, count)) {
    known.admitted += count;
    return;
  }
  const { limit, counted, admitted } = known;
  if (neverAdmits(known, count)) {
    const detail = `${count} tasks at once are more than the ${limit} that may wait.`;
    throw new DroverError('exceeds_queue', { detail, members: { limit, wanted: count } });
  }
  const depth = counted + admitted;
  throw new DroverError('queue_full', {
    retryAfterSeconds: retryAfterSeconds(known, count),
    detail: `${depth} tasks wait, of at most ${limit}, and ${count} more do not fit.`,
    members: { depth, limit, wanted: count },
  });
}
