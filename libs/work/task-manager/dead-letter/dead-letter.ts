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
import { replayableTogether, replayRequest } from '../domain/replay-request.js';
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
  /** Why tasks were skipped, by code. */
  skips: Skip[];
  /** Ids of the first 1,000 new tasks. */
  ids: string[];
}

export interface Skip {
  /** `not_in_dead_letter`, `dependency_failed`, or the code of the error that refused the task. */
  code: string;
  count: number;
}

/** A request with its result so far. */
interface Work {
  caller: Caller;
  request: ReplayRequest;
  result: ReplayResult;
  /** Tasks whose prerequisites must be replayed before. */
  later: string[];
  /** True if the tasks of `later` wait for each other, or for nothing that is replayed. */
  isStuck: boolean;
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
   * Creates a new task for each dead one, which then leaves the dead letter. It depends on the
   * replays of the prerequisites of the dead one, or on these themselves. Tasks that are not in the
   * dead letter, whose new task is refused, or would fail because of a prerequisite that ended
   * without success, are skipped. A repetition after an interruption continues with the rest.
   *
   * @throws DroverError `validation_failed`, `task_not_found`, `queue_full` and as bulk commands
   */
  async replay(caller: Caller, request: ReplayRequest): Promise<ReplayResult> {
    const result: ReplayResult = { matched: 0, replayed: 0, skipped: 0, skips: [], ids: [] };
    const work: Work = { caller, request, result, later: [], isStuck: false };
    for await (const ids of this.bulk.selected(caller, deadOnly(request))) {
      result.matched += ids.length;
      await this.replayIds(work, ids);
    }
    await this.replayLater(work);
    return result;
  }

  /** Repeats tasks that came before their prerequisites, until a pass replays none of them. */
  private async replayLater(work: Work): Promise<void> {
    while (work.later.length > 0) {
      // A chain in descending order takes one pass.
      const ids = work.later.reverse();
      work.later = [];
      await this.replayIds(work, ids);
      const replayedNone = work.later.length === ids.length;
      if (replayedNone && work.isStuck) return skip(work, 'dependency_failed', ids.length);
      work.isStuck ||= replayedNone;
    }
  }

  private async replayIds(work: Work, ids: readonly string[]): Promise<void> {
    const { workspaceId } = work.caller;
    const tenant = this.database.tenant(workspaceId);
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const asked = ids.slice(start, start + AT_ONCE);
      const rows = await tenant.rows(deadTasks, [workspaceId, asked]);
      skip(work, 'not_in_dead_letter', asked.length - rows.length);
      const now = new Set(replayableTogether(rows, work.isStuck));
      work.later.push(...rows.filter((row) => !now.has(row)).map(({ id }) => id));
      await this.replayRows(work, [...now]);
    }
  }

  /** If one is refused, each is replayed alone. */
  private async replayRows(work: Work, rows: readonly DeadTaskRow[]): Promise<void> {
    const { result } = work;
    if (rows.length === 0) return;
    try {
      const ids = await this.replayTogether(work, rows);
      result.replayed += ids.length;
      result.ids.push(...ids.slice(0, IDS_SHOWN - result.ids.length));
    } catch (error) {
      const code = codeOfSkip(error);
      if (code === undefined || isUnreachable(error)) throw error;
      if (rows.length === 1) return skip(work, code, 1);
      for (const { id } of rows) await this.replayIds(work, [id]);
    }
  }

  private async replayTogether(
    { caller, request, result }: Work,
    rows: readonly DeadTaskRow[],
  ): Promise<string[]> {
    const dead = rows.map(({ id }) => id);
    const together = new Set(dead);
    const tasks: TaskRequest[] = [];
    for (const row of rows) {
      const delay = delayOf(request.perMinute, result.replayed + tasks.length);
      const task = replayRequest(await this.opened(row), request.inputContext, together);
      tasks.push({ ...task, ...delay });
    }
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

/** The reason to skip the task. Undefined if the error ends the request. */
function codeOfSkip(error: unknown): string | undefined {
  if (error instanceof Left) return 'not_in_dead_letter';
  const isRefusal =
    error instanceof DroverError && error.spec.status < 500 && error.spec.status !== 429;
  return isRefusal ? error.code : undefined;
}

function skip({ result }: Work, code: string, count: number): void {
  if (count === 0) return;
  result.skipped += count;
  const known = result.skips.find((one) => one.code === code);
  if (known) known.count += count;
  else result.skips.push({ code, count });
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
