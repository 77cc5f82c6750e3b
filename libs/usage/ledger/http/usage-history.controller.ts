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
import { type Caller, decodeCursor, malformedCursor, type Page } from '#lib/kernel';
import { isDay } from '../domain/days.js';
import {
  type Grouping,
  UsageHistory,
  type UsageRequest,
  type UsageSums,
} from '../history/usage-history.js';
import { UsagePageDto, UsageQuery } from './usage.dto.js';

const COLUMNS = [
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'totalTokens',
  'costUsd',
  'reports',
  'reportsWithoutPrice',
  'reasoningTokens',
  'estimatedTokens',
  'estimatedReports',
] as const;

@ApiTags('Usage')
@Controller('usage')
export class UsageHistoryController {
  constructor(private readonly history: UsageHistory) {}

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listUsage',
    summary: 'List usage by day, agent, task, project or model',
  })
  @ApiExtraModels(UsagePageDto)
  @ApiOkResponse({
    content: {
      'application/json': { schema: { $ref: getSchemaPath(UsagePageDto) } },
      'text/csv': { schema: { type: 'string' } },
    },
  })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(
    @CurrentCaller() caller: Caller,
    @Query() query: UsageQuery,
    @Headers('accept') accept = '',
  ): Promise<Page<UsageSums> | StreamableFile> {
    const { format, limit } = query;
    if (wantsCsv(format, accept)) return this.file(caller, query);
    return this.history.page(caller, query, { after: parseCursor(query), limit });
  }

  private async file(caller: Caller, request: UsageRequest): Promise<StreamableFile> {
    const pages = this.history.all(caller, request);
    // Invalid requests are refused before the answer begins.
    const first = await pages.next();
    const lines = linesOf(request.groupBy, first.done ? [] : first.value, pages);
    return csvFile(`usage-by-${request.groupBy}`, lines);
  }
}

async function* linesOf(
  groupBy: Grouping,
  first: UsageSums[],
  others: AsyncIterable<UsageSums[]>,
): AsyncGenerator<string> {
  const named = groupBy === 'day' || groupBy === 'model' ? [] : (['name'] as const);
  const columns = [...named, ...COLUMNS];
  const linesOf = (page: UsageSums[]) =>
    page.map((sums) => csvLine([sums.key, ...columns.map((column) => sums[column])])).join('');
  yield csvLine([groupBy, ...columns]) + linesOf(first);
  for await (const page of others) yield linesOf(page);
}

function parseCursor({ groupBy, cursor }: UsageQuery): string | undefined {
  if (cursor === undefined) return undefined;
  const [after] = decodeCursor(cursor, ['string']) as [string];
  if (after.includes('\0') || (groupBy === 'day' && !isDay(after))) throw malformedCursor();
  return after;
}
