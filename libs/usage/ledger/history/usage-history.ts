import { Injectable } from '@nestjs/common';
import { Database, isUnknownTimeZone } from '#lib/database';
import { type Caller, DroverError, type Page, toPage } from '#lib/kernel';
import { dayAfter, type Days, latest, requestedDays, wholeMonths } from '../domain/days.js';
import { type Dimension, NONE } from '../store/counted.sql.js';
import {
  firstKeptDay,
  readUsageByDay,
  readUsageByKey,
  readUsageByLocalDay,
  readUsageByTask,
  type UsageRow,
} from './read-usage.sql.js';

export const GROUPINGS = ['day', 'agent', 'task', 'project', 'model'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** A request for sums of usage. */
export interface UsageRequest extends Partial<Days> {
  groupBy: Grouping;
  projectId?: string;
  agentId?: string;
  taskId?: string;
  model?: string;
  /** The IANA name of the time zone whose days are summed up; UTC by default. */
  timeZone?: string;
}

/** The sums of a group of reports. */
export interface UsageSums {
  key: string | null;
  /** The name of the agent or project, or the title of the task. */
  name: string | null;
  inputTokens: string;
  outputTokens: string;
  cacheReadTokens: string;
  cacheWriteTokens: string;
  totalTokens: string;
  costUsd: string | null;
  reports: number;
  reportsWithoutPrice: number;
  /** The part of the output that is reasoning. */
  reasoningTokens: string;
  /** The part of the total whose counts the provider did not tell. */
  estimatedTokens: string;
  estimatedReports: number;
}

const CSV_PAGE = 1_000;

/**
 * Sums up usage by day, agent, task, project and model. It is exact at any moment: it adds the
 * reports that the stored sums still lack.
 */
@Injectable()
export class UsageHistory {
  constructor(private readonly database: Database) {}

  /**
   * @param after the last key or day of the previous page
   * @throws DroverError `validation_failed` for days in the wrong order, for filters that exclude
   *   each other, and for days of another time zone whose reports are not kept
   */
  async page(
    caller: Caller,
    request: UsageRequest,
    { after, limit }: { after?: string; limit: number },
  ): Promise<Page<UsageSums>> {
    const rows = await this.rows(caller, readingOf(request), { after, limit: limit + 1 });
    return toPage(rows, limit, ({ key }) => [key], toSumsBy(request.groupBy));
  }

  /** Reads all groups, a thousand at a time, on demand. @throws DroverError as `page` does */
  async *all(caller: Caller, request: UsageRequest): AsyncGenerator<UsageSums[]> {
    const reading = readingOf(request);
    for (let after: string | undefined; ;) {
      const rows = await this.rows(caller, reading, { after, limit: CSV_PAGE });
      yield rows.map(toSumsBy(request.groupBy));
      after = rows.at(-1)?.key;
      if (rows.length < CSV_PAGE) return;
    }
  }

  private rows(
    { workspaceId }: Caller,
    { scopeId, dimension, key, days, timeZone }: Reading,
    { after, limit }: { after?: string; limit: number },
  ): Promise<UsageRow[]> {
    const tenant = this.database.tenant(workspaceId);
    const what = [workspaceId, scopeId ?? workspaceId, dimension];
    if (key !== undefined) {
      const from = latest(days.from, after === undefined ? days.from : dayAfter(after));
      if (timeZone !== undefined) {
        return this.localDays(workspaceId, [...what, from, days.to, key, limit, timeZone]);
      }
      return tenant.rows(readUsageByDay, [...what, from, days.to, key, limit]);
    }
    const period = [...what, days.from, days.to];
    if (dimension === 'task') {
      return tenant.rows(readUsageByTask, [...period, after ?? AFTER_ALL_IDS, limit]);
    }
    const { first, end } = wholeMonths(days);
    return tenant.rows(readUsageByKey, [...period, after ?? '', limit, first, end]);
  }

  /** @throws DroverError `validation_failed` */
  private async localDays(workspaceId: string, params: unknown[]): Promise<UsageRow[]> {
    const [, , , from, , , , timeZone] = params;
    try {
      const [[kept], rows] = await this.database.tenant(workspaceId).pipeline([
        [firstKeptDay, [workspaceId, from, timeZone]],
        [readUsageByLocalDay, params],
      ]);
      if (kept) throw invalidField('from', `must not be before ${kept.day}: ${NOT_KEPT}`);
      return rows;
    } catch (error) {
      if (!isUnknownTimeZone(error)) throw error;
      throw invalidField('timeZone', 'is a time zone that the database does not know');
    }
  }
}

const AFTER_ALL_IDS = '~';
const NOT_KEPT = 'older usage is summed up by days in UTC only';

/** The sums to read: of all keys of a dimension, or of each day of one key. */
interface Reading {
  scopeId: string | undefined;
  dimension: Dimension;
  key: string | undefined;
  days: Days;
  /** Undefined for days in UTC, which the stored sums have. */
  timeZone?: string | undefined;
}

function readingOf(request: UsageRequest): Reading {
  const { groupBy, projectId: scopeId } = request;
  const timeZone = request.timeZone?.toUpperCase() === 'UTC' ? undefined : request.timeZone;
  const days = requestedDays(request, Date.now(), timeZone);
  if (days.from > days.to) throw invalidField('from', 'must not be later than to');
  const filters = (['agentId', 'taskId', 'model'] as const).filter((name) => request[name]);
  const [filter, other] = filters;
  if (groupBy !== 'day') {
    const misplaced = filter ?? (request.timeZone === undefined ? undefined : 'timeZone');
    if (misplaced) throw invalidField(misplaced, 'goes with groupBy=day only');
    return { scopeId, dimension: groupBy, key: undefined, days };
  }
  if (other) throw invalidField(other, `cannot be given together with ${filter}`);
  if (!filter) return { scopeId, dimension: 'total', key: NONE, days, timeZone };
  return { scopeId, dimension: DIMENSIONS[filter], key: keyOf(request, filter), days, timeZone };
}

const DIMENSIONS = { agentId: 'agent', taskId: 'task', model: 'model' } as const;

function keyOf(request: UsageRequest, filter: keyof typeof DIMENSIONS): string | undefined {
  return filter === 'model' ? request.model : request[filter]?.toLowerCase();
}

function toSumsBy(groupBy: Grouping): (row: UsageRow) => UsageSums {
  return (row) => ({
    key: row.key === NONE && groupBy === 'project' ? null : row.key,
    name: row.name,
    ...sumsOf(row),
  });
}

function sumsOf(row: UsageRow): Omit<UsageSums, 'key' | 'name'> {
  const hasPrice = row.reports !== row.reports_without_price;
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    totalTokens: row.total_tokens,
    costUsd: hasPrice ? row.cost_usd : null,
    reports: Number(row.reports),
    reportsWithoutPrice: Number(row.reports_without_price),
    reasoningTokens: row.reasoning_tokens,
    estimatedTokens: row.estimated_tokens,
    estimatedReports: Number(row.estimated_reports),
  };
}

function invalidField(field: string, message: string): DroverError {
  return new DroverError('validation_failed', { errors: [{ field, message }] });
}
