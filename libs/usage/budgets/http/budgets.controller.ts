import { Body, Controller, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  ApiErrors,
  Idempotency,
  type IdempotencyRecord,
  Idempotent,
  IfMatch,
  UuidParam,
  Versioned,
} from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, idOfCursor } from '#lib/kernel';
import { Budgets } from '../allocation/budgets.js';
import {
  ChangeBudgetDto,
  BudgetDto,
  CreateBudgetDto,
  BudgetPageDto,
  ListBudgetsQuery,
  ReallocationDto,
  ReallocateBudgetDto,
} from './budget.dto.js';

@ApiTags('Budgets')
@Controller('budgets')
export class BudgetsController {
  constructor(private readonly budgets: Budgets) {}

  @Post()
  @Versioned()
  @Idempotent()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'createBudget',
    summary: 'Create a budget for the workspace, a project, a milestone or a task',
  })
  @ApiCreatedResponse({ type: BudgetDto })
  @ApiErrors(
    'validation_failed',
    'budget_period_taken',
    'project_not_found',
    'milestone_not_found',
    'task_not_found',
  )
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateBudgetDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.budgets.create(caller, body, record);
  }

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'List budgets, the newest first' })
  @ApiOkResponse({ type: BudgetPageDto })
  @ApiErrors(
    'validation_failed',
    'malformed_cursor',
    'project_not_found',
    'milestone_not_found',
    'task_not_found',
  )
  list(@CurrentCaller() caller: Caller, @Query() query: ListBudgetsQuery) {
    const { limit, cursor, scope = null, scopeId = null, active = false } = query;
    return this.budgets.list(caller, { scope, scopeId, active, after: idOfCursor(cursor), limit });
  }

  @Get(':id')
  @Versioned()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'Get a budget' })
  @ApiOkResponse({ type: BudgetDto })
  @ApiErrors('validation_failed', 'budget_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.budgets.get(caller, id);
  }

  @Patch(':id')
  @Versioned()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'changeBudget',
    summary: 'Change the tokens, the period or the policy of a budget',
  })
  @ApiOkResponse({ type: BudgetDto })
  @ApiErrors('validation_failed', 'budget_not_found', 'budget_period_taken', 'version_mismatch')
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ChangeBudgetDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.budgets.change(caller, id, body, version);
  }

  @Post(':id/reallocate')
  @HttpCode(200)
  @Idempotent()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'reallocateBudget',
    summary: 'Move unused tokens to another budget',
  })
  @ApiOkResponse({ type: ReallocationDto })
  @ApiErrors('validation_failed', 'budget_not_found', 'budget_exceeded')
  reallocate(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReallocateBudgetDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.budgets.reallocate(caller, id, body, record);
  }
}
