import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, PageQuery } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { DeadLetter } from '../dead-letter/dead-letter.js';
import { DeadLetterGroupPageDto, ReplayDto, ReplayResultDto } from './dto/dead-letter.dto.js';

@ApiTags('Tasks')
@Controller('dead-letter')
export class DeadLetterController {
  constructor(private readonly deadLetter: DeadLetter) {}

  @Get()
  @Auth({ kinds: ['user', 'api_key'], scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listDeadLetterGroups',
    summary: 'List groups of tasks that failed for good in the same way, the largest first',
  })
  @ApiOkResponse({ type: DeadLetterGroupPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() { limit, cursor }: PageQuery) {
    return this.deadLetter.groups(caller, { limit, cursor });
  }

  @Post('replay')
  @HttpCode(200)
  @Auth({ kinds: ['user', 'api_key'], role: 'MEMBER', scope: 'tasks:write' })
  @Idempotent()
  @ApiOperation({
    operationId: 'replayDeadLetter',
    summary: 'Replay tasks of the dead letter, by id or by filter, in new tasks',
  })
  @ApiOkResponse({ type: ReplayResultDto })
  @ApiErrors('validation_failed', 'task_not_found', 'queue_full', 'exceeds_queue')
  @ApiErrors('agent_not_found', 'project_not_found', 'milestone_not_found', 'secrets_unreadable')
  replay(@CurrentCaller() caller: Caller, @Body() body: ReplayDto) {
    return this.deadLetter.replay(caller, body);
  }
}
