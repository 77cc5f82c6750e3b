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
  retryAfterSeconds,
} from '../domain/queue-depth.js';
import { queueDepth } from '../store/queue-depth.sql.js';

const REMEMBERED_WORKSPACES = 10_000;

/**
 * Keeps workspaces to the depth of their queues. Decided in memory, from a count that is at most a
 * second old near the limit, so that creating a task costs no count; see `isOutdated` for how far the
 * limit can be overshot by several servers. One alone never overshoots it.
 */
@Injectable()
export class QueueDepths {
  private readonly known = new LRUCache<string, KnownDepth>({ max: REMEMBERED_WORKSPACES });
  private readonly counting = new Map<string, Promise<KnownDepth>>();

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(CONFIG) private readonly config: Pick<Config, 'admission'>,
  ) {}

  /**
   * Lets `count` tasks in, or refuses them all. Who is let in and then fails for another reason has
   * taken its place until the next count.
   *
   * @returns at once when nothing has to be counted
   * @throws DroverError `queue_full` with the depth, the limit, and when to come again
   */
  admit(workspaceId: string, count: number): void | Promise<void> {
    const known = this.known.get(workspaceId);
    if (known && !isOutdated(known, performance.now())) return take(known, count);
    return this.count(workspaceId).then((depth) => take(depth, count));
  }

  /** The limit has changed. */
  forget(workspaceId: string): void {
    this.known.delete(workspaceId);
  }

  /** Those who ask at the same time share one count. */
  private count(workspaceId: string): Promise<KnownDepth> {
    const underWay = this.counting.get(workspaceId);
    if (underWay) return underWay;
    const count = this.read(workspaceId).finally(() => this.counting.delete(workspaceId));
    this.counting.set(workspaceId, count);
    return count;
  }

  private async read(workspaceId: string): Promise<KnownDepth> {
    const start = performance.now();
    const params = [workspaceId, this.config.admission.maxQueueDepth];
    const row = await firstRow(this.database.tenant(workspaceId), queueDepth, params);
    const { counted, limit } = row ?? { counted: 0, limit: 0 };
    const countedAt = performance.now();
    const before = this.known.get(workspaceId);
    const known: KnownDepth = {
      ...{ counted, limit, countedAt, countingMs: countedAt - start, admitted: 0 },
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
  const depth = counted + admitted;
  throw new DroverError('queue_full', {
    retryAfterSeconds: retryAfterSeconds(known, count),
    detail: `${depth} tasks wait, of at most ${limit}, and ${count} more do not fit.`,
    members: { depth, limit, wanted: count },
  });
}
