import { Injectable } from '@nestjs/common';
import { Database, isUnreachable } from '#lib/database';
import {
  actorOf,
  type Caller,
  decodeCursor,
  DroverError,
  type Page,
  redactText,
  toPage,
} from '#lib/kernel';
import { TaskSecrets } from '#lib/secrets';
import { BulkCommands, type BulkRequest } from '../commands/bulk-commands.js';
import { TaskCreation } from '../creation/task-creation.js';
import type { TaskRequest } from '../domain/new-task.js';
import { replayRequest } from '../domain/replay-request.js';
import {
  type DeadLetterGroupRow,
  type DeadTaskRow,
  deadTasks,
  linkReplays,
  listDeadLetterGroups,
} from './dead-letter.sql.js';

export interface DeadLetterGroup {
  fingerprint: string;
  count: number;
  taskType: string;
  reason: string | null;
  error: string | null;
  newestTaskId: string;
  newestTitle: string;
  newestFailedAt: string;
}

export interface ReplayRequest extends Omit<BulkRequest, 'reason'> {
  /** Replaces these keys of the input of each task. */
  inputContext?: Record<string, unknown>;
  /** Maximum number of replays that start in a minute. */
  perMinute?: number;
}

export interface ReplayResult {
  matched: number;
  replayed: number;
  skipped: number;
  /** Ids of the first 1,000 new tasks. */
  ids: string[];
}

const IDS_SHOWN = 1_000;
const AT_ONCE = 100;

/** A task has left the dead letter since it was read. */
class Left extends Error {}

/** Tasks that failed for good: their groups, and their replays in new tasks. */
@Injectable()
export class DeadLetter {
  constructor(
    private readonly database: Database,
    private readonly bulk: BulkCommands,
    private readonly secrets: TaskSecrets,
    private readonly creation: TaskCreation,
  ) {}

  /** The largest group first. @throws DroverError `malformed_cursor` */
  async groups(
    { workspaceId }: Caller,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Promise<Page<DeadLetterGroup>> {
    const after = cursor === undefined ? [null, null] : decodeCursor(cursor, ['number', 'string']);
    const params = [workspaceId, ...after, limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listDeadLetterGroups, params);
    return toPage(rows, limit, (row) => [row.count, row.fingerprint], toGroup);
  }

  /**
   * Creates a new task for each dead one, which then leaves the dead letter. Tasks that are not in
   * it, or whose new task is refused, are skipped. A repetition after an interruption continues
   * with the rest.
   *
   * @throws DroverError `validation_failed`, `task_not_found`, `queue_full` and as bulk commands
   */
  async replay(caller: Caller, request: ReplayRequest): Promise<ReplayResult> {
    const result: ReplayResult = { matched: 0, replayed: 0, skipped: 0, ids: [] };
    for await (const ids of this.bulk.selected(caller, deadOnly(request))) {
      result.matched += ids.length;
      const tenant = this.database.tenant(caller.workspaceId);
      for (let start = 0; start < ids.length; start += AT_ONCE) {
        const params = [caller.workspaceId, ids.slice(start, start + AT_ONCE)];
        await this.replayRows(caller, await tenant.rows(deadTasks, params), { request, result });
      }
    }
    result.skipped = result.matched - result.replayed;
    return result;
  }

  /** If one is refused, each is replayed alone. */
  private async replayRows(
    caller: Caller,
    rows: readonly DeadTaskRow[],
    { request, result }: { request: ReplayRequest; result: ReplayResult },
  ): Promise<void> {
    if (rows.length === 0) return;
    try {
      const ids = await this.replayTogether(caller, rows, { request, before: result.replayed });
      result.replayed += ids.length;
      result.ids.push(...ids.slice(0, IDS_SHOWN - result.ids.length));
    } catch (error) {
      const isSkipped = error instanceof Left || isRefusal(error);
      if (!isSkipped || isUnreachable(error)) throw error;
      if (rows.length === 1) return;
      for (const row of rows) await this.replayRows(caller, [row], { request, result });
    }
  }

  private async replayTogether(
    caller: Caller,
    rows: readonly DeadTaskRow[],
    { request, before }: { request: ReplayRequest; before: number },
  ): Promise<string[]> {
    const tasks: TaskRequest[] = [];
    for (const row of rows) {
      const delay = delayOf(request.perMinute, before + tasks.length);
      tasks.push({ ...replayRequest(await this.opened(row), request.inputContext), ...delay });
    }
    const dead = rows.map(({ id }) => id);
    return this.creation.createTogether(caller, tasks, async (tx, ids) => {
      const { kind, id } = actorOf(caller);
      const record = [kind, id, '{}', ['replayedById', 'failureFingerprint']];
      const linked = await tx.rows(linkReplays, [caller.workspaceId, dead, ...record, ids]);
      if (linked.length < dead.length) throw new Left();
    });
  }

  /** The task with its secrets. @throws DroverError `secrets_unreadable` */
  private async opened({ originals, ...row }: DeadTaskRow): Promise<DeadTaskRow> {
    const whole: Record<string, unknown> = { ...row };
    for (const original of originals ?? []) {
      const outcome = await this.secrets.open(original);
      if (outcome.kind !== 'opened') throw new DroverError('secrets_unreadable');
      whole[camelCase(original.column_name)] = outcome.value;
    }
    return whole as unknown as DeadTaskRow;
  }
}

/** An empty filter stays empty, and is refused. */
function deadOnly({ ids, filter }: ReplayRequest): BulkRequest {
  const hasCondition = Object.values(filter ?? {}).some((value) => value !== undefined);
  const selected = hasCondition ? { ...filter, deadLetter: true } : filter;
  return { ...(ids && { ids }), ...(selected && { filter: selected }) };
}

/** The start of the n-th replay, so that `perMinute` start in each minute. */
function delayOf(perMinute: number | undefined, n: number): { delaySeconds?: number } {
  const delaySeconds = perMinute === undefined ? 0 : Math.floor((n * 60) / perMinute);
  return delaySeconds > 0 ? { delaySeconds } : {};
}

function isRefusal(error: unknown): boolean {
  return error instanceof DroverError && error.spec.status < 500 && error.spec.status !== 429;
}

function camelCase(column: string): string {
  return column.replace(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}

function toGroup(row: DeadLetterGroupRow): DeadLetterGroup {
  return {
    fingerprint: row.fingerprint,
    count: row.count,
    taskType: row.task_type,
    reason: row.reason,
    error: row.last_error === null ? null : redactText(row.last_error),
    newestTaskId: row.task_id,
    newestTitle: row.title,
    newestFailedAt: row.failed_at.toISOString(),
  };
}
