import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotency, type IdempotencyRecord, Idempotent, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Attempts } from '../attempts/attempts.js';
import { AttemptsDto, CreateAttemptsDto } from './attempts.dto.js';

@ApiTags('Changes')
@Controller()
export class AttemptsController {
  constructor(private readonly attempts: Attempts) {}

  @Post('task-attempts')
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @Idempotent()
  @ApiOperation({
    operationId: 'createTaskAttempts',
    summary: 'Create several tasks that make the same change, of which one is approved',
    description: 'An approval of one closes the others. See `GET /changes/{id}/attempts`.',
  })
  @ApiCreatedResponse({ type: AttemptsDto })
  @ApiErrors(
    'validation_failed',
    'task_not_found',
    'project_not_found',
    'project_archived',
    'repository_not_found',
    'repository_archived',
    'milestone_not_found',
    'milestone_archived',
    'model_not_allowed',
    'agent_not_found',
    'agent_terminated',
    'queue_full',
    'exceeds_queue',
  )
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateAttemptsDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.attempts.create(caller, body, record);
  }

  @Get('changes/:id/attempts')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listChangeAttempts',
    summary: 'Compare the attempts at a change: state, size, last proof and cost',
  })
  @ApiOkResponse({ type: AttemptsDto })
  @ApiErrors('validation_failed', 'change_not_found')
  list(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.attempts.get(caller, id);
  }
}
