import { LRUCache } from 'lru-cache';
import type { TaskInput } from './create-tasks.sql.js';

/**
 * Far below the half day after which the use of a set is recorded again, and the day after which it
 * can be removed.
 */
const REMEMBERED_MS = 3_600_000;

/** Sets of capabilities whose use was recorded recently, so that creating a task need not look. */
export class KnownCapabilitySets {
  private readonly keys = new LRUCache<string, true>({ max: 10_000, ttl: REMEMBERED_MS });

  /** Whether all sets that these tasks need are known. */
  haveAllOf(workspaceId: string, tasks: readonly TaskInput[]): boolean {
    return tasks.every((task) => this.keys.has(`${workspaceId} ${task.capabilityKey}`));
  }

  note(workspaceId: string, tasks: readonly TaskInput[]): void {
    for (const task of tasks) this.keys.set(`${workspaceId} ${task.capabilityKey}`, true);
  }
}
