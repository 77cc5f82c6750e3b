import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type Caller, type Page, timeAndIdOfCursor, toPage } from '#lib/kernel';
import { boundsOf, type Period, toQuantiles } from '#lib/ledger/domain';
import { Repositories } from '#lib/repositories';
import type {
  ChangeCostGroup,
  ChangeCostRanges,
  CostGroup,
  MergedChange,
} from '../domain/change-costs.js';
import { costSummaries, type CostSummaryRow } from './cost-summary.sql.js';
import { type MergedChangeRow, mergedChanges } from './merged-changes.sql.js';

export interface CostRequest extends Period {
  repositoryId?: string;
}

export interface CostSummary {
  from: string;
  to: string;
  items: ChangeCostGroup[];
  more: boolean;
}

const FILE_PAGE = 1_000;
/** The maximum number of groups in a summary. */
const GROUPS = 500;

/** The cost of merged changes: each of them, and the ranges of their groups. */
@Injectable()
export class ChangeCosts {
  constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
  ) {}

  /**
   * Merged changes, the latest first.
   *
   * @throws DroverError `malformed_cursor`, `repository_not_found`, `validation_failed`
   */
  async page(
    caller: Caller,
    request: CostRequest,
    { cursor, limit }: { cursor?: string; limit: number },
  ): Promise<Page<MergedChange>> {
    const rows = await this.rows(await this.chosen(caller, request), cursor, limit + 1);
    return toPage(rows, limit, keyOf, toMergedChange);
  }

  /** Reads all merged changes, a thousand at a time, on demand. @throws as `page` does */
  async *all(caller: Caller, request: CostRequest): AsyncGenerator<MergedChange[]> {
    const chosen = await this.chosen(caller, request);
    for (let cursor: string | undefined | null; cursor !== null;) {
      const rows = await this.rows(chosen, cursor, FILE_PAGE + 1);
      const page = toPage(rows, FILE_PAGE, keyOf, toMergedChange);
      yield page.items;
      cursor = page.nextCursor;
    }
  }

  /** @throws DroverError `repository_not_found`, `validation_failed` */
  async summary(
    caller: Caller,
    request: CostRequest & { groupBy: CostGroup },
  ): Promise<CostSummary> {
    const chosen = await this.chosen(caller, request);
    const [workspaceId, from, to] = chosen;
    const params = [...chosen, GROUPS + 1];
    const rows = await this.database
      .tenant(workspaceId)
      .rows(costSummaries[request.groupBy], params);
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      items: rows.slice(0, GROUPS).map(toGroup),
      more: rows.length > GROUPS,
    };
  }

  private async chosen({ workspaceId }: Caller, { repositoryId, ...period }: CostRequest) {
    const bounds = boundsOf(period);
    if (repositoryId !== undefined) await this.repositories.get({ workspaceId }, repositoryId);
    return [workspaceId, ...bounds, repositoryId ?? null] as const;
  }

  private rows(
    chosen: readonly [workspaceId: string, from: Date, to: Date, repositoryId: string | null],
    cursor: string | undefined,
    limit: number,
  ): Promise<MergedChangeRow[]> {
    const params = [...chosen, ...timeAndIdOfCursor(cursor), limit];
    return this.database.tenant(chosen[0]).rows(mergedChanges, params);
  }
}

function keyOf({ merged_us: at, task_id: id }: MergedChangeRow): string[] {
  return [at, id];
}

function toMergedChange(row: MergedChangeRow): MergedChange {
  return {
    id: row.task_id,
    title: row.title,
    taskType: row.task_type,
    repositoryId: row.repository_id,
    repositoryName: row.repository_name,
    agentKind: row.agent_kind,
    model: row.model,
    mergedAt: row.merged_at.toISOString(),
    runs: row.runs,
    tokens: row.tokens,
    costUsd: row.cost_usd,
    timeToMergeSeconds: row.seconds_to_merge,
    workSeconds: row.work_seconds,
    reviewSeconds: row.review_seconds,
    revisions: row.revision,
    reviewRounds: row.review_rounds,
  };
}

function toGroup(row: CostSummaryRow): ChangeCostGroup {
  return {
    key: row.key,
    name: row.name,
    merged: row.merged,
    unmerged: row.unmerged,
    tokens: row.tokens,
    costUsd: row.cost_usd,
    unmergedTokens: row.unmerged_tokens,
    unmergedCostUsd: row.unmerged_cost_usd,
    ranges: row.merged === 0 ? null : toRanges(row),
  };
}

function toRanges(row: CostSummaryRow): ChangeCostRanges {
  const ranges = {
    tokens: toQuantiles(row.token_quantiles),
    costUsd: toQuantiles(row.cost_quantiles),
    timeToMergeSeconds: toQuantiles(row.merge_quantiles),
    workSeconds: toQuantiles(row.work_quantiles),
    reviewSeconds: toQuantiles(row.review_quantiles),
    revisions: toQuantiles(row.revision_quantiles),
    reviewRounds: toQuantiles(row.round_quantiles),
  };
  return ranges as ChangeCostRanges;
}
