import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { idOfCursor, type Page, timeAndIdOfCursor, toPage } from '#lib/kernel';
import { boundsOf, type Period, type Quantiles, toQuantiles } from '../domain/period.js';
import { costsOfProjects, costsOfTasks, type CostRow } from './costs.sql.js';
import { type EstimateReportRow, reportEstimates } from './report-estimates.sql.js';

/** The maximum number of kinds of tasks in a report. */
const KINDS = 500;
/** The cursor of a page of projects after the tasks without a project. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000';

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
      const rows = await tenant.rows(costsOfTasks, [...params, ...timeAndIdOfCursor(cursor)]);
      return toPage(rows, limit, (row) => [row.completed_us ?? '', row.task_id ?? ''], toCostView);
    }
    const rows = await tenant.rows(costsOfProjects, [...params, idOfCursor(cursor)]);
    return toPage(rows, limit, (row) => [row.project_id ?? NO_PROJECT], toCostView);
  }
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
