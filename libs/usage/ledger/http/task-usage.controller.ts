import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskUsage } from '../history/task-usage.js';
import { TaskUsagePageDto, TaskUsageQuery } from './task-usage.dto.js';

@ApiTags('Usage')
@Controller('agent-tasks/:id/usage')
export class TaskUsageController {
  constructor(private readonly usage: TaskUsage) {}

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listTaskUsage',
    summary: 'List the reports of usage of a task or of one of its runs, the latest first',
  })
  @ApiOkResponse({ type: TaskUsagePageDto })
  @ApiErrors('validation_failed', 'task_not_found', 'run_not_found', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Query() query: TaskUsageQuery) {
    return this.usage.list(caller, id, query);
  }
}
