import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, PageQuery, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, numberOfCursor } from '#lib/kernel';
import { BudgetAlerts } from '../alerts/budget-alerts.js';
import { BudgetAlertPageDto } from './budget-alerts.dto.js';

@ApiTags('Budgets')
@Controller('budgets')
@Auth({ scope: 'tasks:read' })
export class BudgetAlertsController {
  constructor(private readonly alerts: BudgetAlerts) {}

  @Get(':id/alerts')
  @ApiOperation({
    operationId: 'listBudgetAlerts',
    summary: 'List the alerts of a budget, the newest first',
  })
  @ApiOkResponse({ type: BudgetAlertPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'budget_not_found')
  list(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Query() { limit, cursor }: PageQuery,
  ) {
    return this.alerts.list(caller, id, { limit, before: numberOfCursor(cursor) });
  }
}
