import { Body, Controller, Get, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, IfMatch, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { ModelRouting } from '../routing/model-routing.js';
import { RoutingSavings } from '../savings/routing-savings.js';
import {
  ModelChoiceDto,
  ModelRoutingDto,
  SetModelRoutingDto,
  PreviewRoutingQuery,
  RoutingSavingsDto,
  RoutingSavingsQuery,
} from './model-routing.dto.js';

@ApiTags('Models')
@Controller('model-routing')
export class ModelRoutingController {
  constructor(
    private readonly routing: ModelRouting,
    private readonly savings: RoutingSavings,
  ) {}

  @Get()
  @Versioned()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getModelRouting',
    summary: 'Get the rules that choose models for tasks',
  })
  @ApiOkResponse({ type: ModelRoutingDto })
  @ApiErrors('validation_failed')
  get(@CurrentCaller() caller: Caller) {
    return this.routing.get(caller);
  }

  @Put()
  @Versioned()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'setModelRouting',
    summary: 'Set the rules that choose models for tasks',
    description:
      'The rules apply to tasks that are claimed or assigned from now on. Other servers ' +
      'use them within 30 seconds.',
  })
  @ApiOkResponse({ type: ModelRoutingDto })
  @ApiErrors('validation_failed', 'project_not_found', 'version_mismatch')
  set(
    @CurrentCaller() caller: Caller,
    @Body() body: SetModelRoutingDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.routing.set(caller, body, version);
  }

  @Get('preview')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getModelRoutingPreview',
    summary: 'Preview the model of a task, with the rule that chooses it',
    description: 'An agent with its own `model` keeps that model.',
  })
  @ApiOkResponse({ type: ModelChoiceDto })
  @ApiErrors('validation_failed', 'project_not_found')
  preview(@CurrentCaller() caller: Caller, @Query() query: PreviewRoutingQuery) {
    const { taskType = '', priority, estimatedComplexity, estimatedTokens, projectId } = query;
    return this.routing.preview(caller, {
      taskType,
      priority,
      estimatedComplexity: estimatedComplexity ?? null,
      estimatedTokens: estimatedTokens === undefined ? null : BigInt(estimatedTokens),
      projectId: projectId ?? null,
    });
  }

  @Get('savings')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getModelRoutingSavings',
    summary: 'Compare the cost of a period with the cost of the most expensive model',
  })
  @ApiOkResponse({ type: RoutingSavingsDto })
  @ApiErrors('validation_failed')
  getSavings(@CurrentCaller() caller: Caller, @Query() { from, to }: RoutingSavingsQuery) {
    return this.savings.between(caller, from, to);
  }
}
