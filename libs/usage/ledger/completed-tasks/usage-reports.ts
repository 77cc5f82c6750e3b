import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import {
  decodeCursor,
  DroverError,
  idOfCursor,
  isUuid,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import { costsOfProjects, costsOfTasks, type CostRow } from './costs.sql.js';
import { type EstimateReportRow, reportEstimates } from './report-estimates.sql.js';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
/** The maximum number of kinds of tasks in a report. */
const KINDS = 500;
/** The cursor of a page of projects after the tasks without a project. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000';

/**
 * The bounds of the time of completion, in RFC 3339. The default is the 30 days before `to`, or
 * now.
 */
export interface Period {
  from?: string;
  to?: string;
}

/** The estimated and the used tokens of tasks. `KindEstimatesDto` documents the fields. */
export interface EstimateFigures {
  tasks: number;
  unreported: number;
  estimatedTokens: string;
  usedTokens: string;
  medianRatio: number | null;
  within20Percent: number | null;
}

export interface EstimatesOfKind extends EstimateFigures {
  taskType: string;
  projectId: string | null;
}

export interface EstimateReport {
  from: string;
  to: string;
  total: EstimateFigures;
  items: EstimatesOfKind[];
  more: boolean;
}

export const COST_GROUPS = ['task', 'project'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

/** The cost of a completed task, or of the outcomes of a project. `UsageCostDto` documents the fields. */
export interface CostView {
  taskId: string | null;
  title: string | null;
  taskType: string | null;
  completedAt: string | null;
  projectId: string | null;
  projectName: string | null;
  tasks: number;
  failedTasks: number;
  runs: number;
  usedTokens: string;
  costUsd: string;
  failedTokens: string;
  failedCostUsd: string;
  tokensPerOutcome: string | null;
  costUsdPerOutcome: string | null;
  tokenQuantiles: Quantiles | null;
  costUsdQuantiles: Quantiles | null;
}

/** The values below which a tenth, a half and nine tenths of the completed tasks lie. */
export interface Quantiles {
  p10: string;
  p50: string;
  p90: string;
}

interface CostRequest extends Period {
  groupBy: CostGroup;
  limit: number;
  cursor?: string;
}

/** Reports what tasks used and cost. */
@Injectable()
export class UsageReports {
  constructor(private readonly database: Database) {}

  /** @throws DroverError `validation_failed` */
  async estimates(workspaceId: string, period: Period): Promise<EstimateReport> {
    const [from, to] = boundsOf(period);
    const params = [workspaceId, from, to, 1 + KINDS + 1];
    const rows = await this.database.tenant(workspaceId).rows(reportEstimates, params);
    const [total, ...kinds] = rows;
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      total: figuresOf(total as EstimateReportRow),
      items: kinds.slice(0, KINDS).map((row) => ({
        taskType: row.task_type,
        projectId: row.project_id,
        ...figuresOf(row),
      })),
      more: kinds.length > KINDS,
    };
  }

  /** @throws DroverError `validation_failed`, `malformed_cursor` */
  async costs(workspaceId: string, request: CostRequest): Promise<Page<CostView>> {
    const { limit, groupBy, cursor } = request;
    const tenant = this.database.tenant(workspaceId);
    const params = [workspaceId, ...boundsOf(request), limit + 1];
    if (groupBy === 'task') {
      const rows = await tenant.rows(costsOfTasks, [...params, ...parseTaskCursor(cursor)]);
      return toPage(rows, limit, (row) => [row.completed_us ?? '', row.task_id ?? ''], toCostView);
    }
    const rows = await tenant.rows(costsOfProjects, [...params, idOfCursor(cursor)]);
    return toPage(rows, limit, (row) => [row.project_id ?? NO_PROJECT], toCostView);
  }
}

function boundsOf({ from, to }: Period): [Date, Date] {
  const end = to === undefined ? new Date() : new Date(to);
  const start =
    from === undefined ? new Date(end.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(from);
  const days = (end.getTime() - start.getTime()) / DAY_MS;
  if (days > 0 && days <= MAX_DAYS) return [start, end];
  const message = `must be before \`to\`, by ${MAX_DAYS} days at most`;
  throw new DroverError('validation_failed', { errors: [{ field: 'from', message }] });
}

function parseTaskCursor(cursor: string | undefined): [string, string] | [null, null] {
  if (cursor === undefined) return [null, null];
  const [at, id] = decodeCursor(cursor, ['string', 'string']) as [string, string];
  if (!/^\d{1,16}$/.test(at) || !isUuid(id)) throw malformedCursor();
  return [at, id];
}

function figuresOf(row: EstimateReportRow): EstimateFigures {
  return {
    tasks: row.tasks,
    unreported: row.unreported,
    estimatedTokens: row.estimated_tokens,
    usedTokens: row.used_tokens,
    medianRatio: row.median_ratio,
    within20Percent: row.within_20_percent,
  };
}

function toCostView(row: CostRow): CostView {
  return {
    taskId: row.task_id,
    title: row.title,
    taskType: row.task_type,
    completedAt: row.completed_at?.toISOString() ?? null,
    projectId: row.project_id,
    projectName: row.project_name,
    tasks: row.tasks,
    failedTasks: row.failed_tasks,
    runs: row.runs,
    usedTokens: row.used_tokens,
    costUsd: row.cost_usd,
    failedTokens: row.failed_tokens,
    failedCostUsd: row.failed_cost_usd,
    tokensPerOutcome: row.tokens_per_outcome,
    costUsdPerOutcome: row.cost_per_outcome,
    tokenQuantiles: toQuantiles(row.token_quantiles),
    costUsdQuantiles: toQuantiles(row.cost_quantiles),
  };
}

function toQuantiles(values: readonly string[] | null): Quantiles | null {
  const [p10, p50, p90] = values ?? [];
  return p10 === undefined || p50 === undefined || p90 === undefined ? null : { p10, p50, p90 };
}
