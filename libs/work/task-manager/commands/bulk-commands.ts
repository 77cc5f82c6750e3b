import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type Caller, DroverError, newId } from '#lib/kernel';
import type { TaskFilter } from '../domain/task-filter.js';
import { requireNamed, requireTasks } from '../queries/require-named.js';
import { matchingIds } from './matching-ids.sql.js';
import { TaskCommands } from './task-commands.js';

export interface BulkRequest {
  /** Exactly these tasks ... */
  ids?: string[];
  /** ... or all that match this filter, which must not be empty. */
  filter?: TaskFilter;
  reason?: string;
}

export interface BulkResult {
  /** Number of tasks that were named or matched. */
  matched: number;
  changed: number;
  /** Tasks that already have the status, or cannot get it. */
  skipped: number;
}

const CHUNK = 500;

/**
 * A command for many tasks. Each chunk of 500 is its own transaction, because a command for 100,000
 * tasks must not lock them all at once. A repetition after an interruption continues with the rest.
 */
@Injectable()
export class BulkCommands {
  constructor(
    private readonly database: Database,
    private readonly commands: TaskCommands,
  ) {}

  /**
   * @throws DroverError `validation_failed` unless exactly one of `ids` and `filter` selects tasks;
   *   `task_not_found` and similar errors if one names a missing object: then nothing is done
   */
  async run(
    caller: Caller,
    command: 'cancel' | 'retry' | 'archive',
    request: BulkRequest,
  ): Promise<BulkResult> {
    const result: BulkResult = { matched: 0, changed: 0, skipped: 0 };
    for await (const ids of this.selected(caller, request)) {
      const { changed, skipped } = await this.commands.many(caller, command, ids, {
        reason: request.reason,
      });
      result.matched += ids.length;
      result.changed += changed.length;
      result.skipped += skipped.length;
    }
    return result;
  }

  /**
   * The ids of the tasks that a request selects, in chunks of 500. @throws as run
   */
  async *selected({ workspaceId }: Caller, request: BulkRequest): AsyncGenerator<string[]> {
    refuseEmptyLists(request);
    requireOne(request);
    await this.requireThere(workspaceId, request);
    yield* this.chunks(workspaceId, request);
  }

  private chunks(workspaceId: string, { ids, filter }: BulkRequest): AsyncIterable<string[]> {
    const lower = ids?.map((id) => id.toLowerCase());
    return lower ? chunksOf([...new Set(lower)]) : this.matching(workspaceId, filter as TaskFilter);
  }

  private async requireThere(workspaceId: string, { ids, filter }: BulkRequest): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (ids) await requireTasks(tenant, workspaceId, ids);
    else await requireNamed(tenant, workspaceId, filter ?? {}, 'filter.');
  }

  private async *matching(workspaceId: string, filter: TaskFilter): AsyncGenerator<string[]> {
    let after: string | null = null;
    // A command that creates tasks must not meet them again.
    const before = newId();
    for (;;) {
      const { sql, params } = matchingIds(workspaceId, filter, { after, before, limit: CHUNK });
      const rows: { id: string }[] = await this.database.tenant(workspaceId).rows(sql, params);
      if (rows.length === 0) return;
      after = rows.at(-1)?.id ?? null;
      yield rows.map((row) => row.id);
    }
  }
}

function requireOne({ ids, filter }: BulkRequest): void {
  const conditions = Object.values(filter ?? {}).filter((value) => value !== undefined);
  if ((ids === undefined) === conditions.length > 0) return;
  const message = 'must say which tasks: either `ids`, or a `filter` with at least one condition';
  throw new DroverError('validation_failed', { errors: [{ field: 'filter', message }] });
}

/** An empty list would match everything, and more tasks be cancelled than anybody meant. */
function refuseEmptyLists({ filter = {} }: BulkRequest): void {
  const empty = Object.entries(filter).filter(
    ([, value]) => Array.isArray(value) && value.length === 0,
  );
  if (empty.length === 0) return;
  const message = 'must not be empty';
  const errors = empty.map(([name]) => ({ field: `filter.${name}`, message }));
  throw new DroverError('validation_failed', { errors });
}

async function* chunksOf(ids: readonly string[]): AsyncGenerator<string[]> {
  for (let start = 0; start < ids.length; start += CHUNK) yield ids.slice(start, start + CHUNK);
}
