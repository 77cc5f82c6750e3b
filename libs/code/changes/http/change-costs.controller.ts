import { Controller, Get, Headers, Query, type StreamableFile } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiErrors, csvFile, csvLine, wantsCsv } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller, Page } from '#lib/kernel';
import { ChangeCosts, type CostSummary } from '../costs/change-costs.js';
import type { ChangeCostGroup, CostGroup, MergedChange } from '../domain/change-costs.js';
import {
  ChangeCostsQuery,
  ChangeCostSummaryDto,
  CostSummaryQuery,
  MergedChangePageDto,
} from './change-costs.dto.js';

const COLUMNS = [
  'id',
  'title',
  'taskType',
  'repositoryId',
  'repositoryName',
  'agentKind',
  'model',
  'mergedAt',
  'runs',
  'tokens',
  'costUsd',
  'timeToMergeSeconds',
  'workSeconds',
  'reviewSeconds',
  'revisions',
  'reviewRounds',
] as const satisfies (keyof MergedChange)[];

const SUMS = [
  'merged',
  'unmerged',
  'tokens',
  'costUsd',
  'unmergedTokens',
  'unmergedCostUsd',
] as const satisfies (keyof ChangeCostGroup)[];

const MEASURED = [
  'tokens',
  'costUsd',
  'timeToMergeSeconds',
  'workSeconds',
  'reviewSeconds',
  'revisions',
  'reviewRounds',
] as const satisfies (keyof NonNullable<ChangeCostGroup['ranges']>)[];

const QUANTILES = ['p10', 'p50', 'p90'] as const;

const jsonOrCsv = (type: Parameters<typeof getSchemaPath>[0]) => ({
  content: {
    'application/json': { schema: { $ref: getSchemaPath(type) } },
    'text/csv': { schema: { type: 'string' } },
  },
});

@ApiTags('Changes')
@Controller('changes/costs')
@Auth({ scope: 'tasks:read' })
export class ChangeCostsController {
  constructor(private readonly costs: ChangeCosts) {}

  @Get()
  @ApiOperation({
    operationId: 'listChangeCosts',
    summary: 'List what merged changes cost, the latest merge first',
  })
  @ApiExtraModels(MergedChangePageDto)
  @ApiOkResponse(jsonOrCsv(MergedChangePageDto))
  @ApiErrors('validation_failed', 'malformed_cursor', 'repository_not_found')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: ChangeCostsQuery,
    @Headers('accept') accept = '',
  ): Promise<Page<MergedChange> | StreamableFile> {
    const { format, limit, cursor, ...request } = query;
    if (!wantsCsv(format, accept)) return this.costs.page(caller, request, { cursor, limit });
    const pages = this.costs.all(caller, request);
    // Invalid requests are refused before the answer begins.
    const first = await pages.next();
    return csvFile('merged-changes', linesOf(first.done ? [] : first.value, pages));
  }

  @Get('summary')
  @ApiOperation({
    operationId: 'getChangeCostSummary',
    summary: 'Compare agent kinds, models, repositories or task types by what merged changes cost',
  })
  @ApiExtraModels(ChangeCostSummaryDto)
  @ApiOkResponse(jsonOrCsv(ChangeCostSummaryDto))
  @ApiErrors('validation_failed', 'repository_not_found')
  async summary(
    @CurrentCaller() caller: Caller,
    @Query() { format, ...request }: CostSummaryQuery,
    @Headers('accept') accept = '',
  ): Promise<CostSummary | StreamableFile> {
    const summary = await this.costs.summary(caller, request);
    if (!wantsCsv(format, accept)) return summary;
    return csvFile(`changes-by-${request.groupBy}`, [
      linesOfGroups(request.groupBy, summary.items),
    ]);
  }
}

async function* linesOf(
  first: MergedChange[],
  others: AsyncIterable<MergedChange[]>,
): AsyncGenerator<string> {
  const toLines = (page: MergedChange[]) =>
    page.map((change) => csvLine(COLUMNS.map((column) => change[column]))).join('');
  yield csvLine(COLUMNS) + toLines(first);
  for await (const page of others) yield toLines(page);
}

function linesOfGroups(groupBy: CostGroup, groups: readonly ChangeCostGroup[]): string {
  const measured = MEASURED.flatMap((name) => QUANTILES.map((at) => [name, at] as const));
  const titles = measured.map(([name, at]) => `${name}${at.toUpperCase()}`);
  const lines = groups.map((group) =>
    csvLine([
      group.key,
      group.name,
      ...SUMS.map((sum) => group[sum]),
      ...measured.map(([name, at]) => group.ranges?.[name][at] ?? null),
    ]),
  );
  return csvLine([groupBy, 'name', ...SUMS, ...titles]) + lines.join('');
}
