import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, PageQuery, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, numberOfCursor } from '#lib/kernel';
import { PastPeriods } from '../periods/past-periods.js';
import { PastPeriodPageDto } from './past-periods.dto.js';

@ApiTags('Budgets')
@Controller('budgets')
@Auth({ scope: 'tasks:read' })
export class PastPeriodsController {
  constructor(private readonly periods: PastPeriods) {}

  @Get(':id/periods')
  @ApiOperation({
    operationId: 'listBudgetPeriods',
    summary: 'List the periods of a budget that have ended, the newest first',
  })
  @ApiOkResponse({ type: PastPeriodPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'budget_not_found')
  list(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Query() { limit, cursor }: PageQuery,
  ) {
    return this.periods.list(caller, id, { limit, before: numberOfCursor(cursor) });
  }
}
