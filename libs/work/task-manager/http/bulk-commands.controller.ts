import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { BulkCommands } from '../commands/bulk-commands.js';
import { BulkUpdates } from '../updates/bulk-updates.js';
import { BulkCommandDto, BulkPriorityDto, BulkResultDto } from './dto/command.dto.js';

@ApiTags('Tasks')
@Controller('agent-tasks/bulk')
@Auth({ role: 'MEMBER', scope: 'tasks:write' })
@ApiErrors('validation_failed', 'task_not_found')
@ApiErrors('agent_not_found', 'project_not_found', 'milestone_not_found')
export class BulkCommandsController {
  constructor(
    private readonly bulk: BulkCommands,
    private readonly updates: BulkUpdates,
  ) {}

  @Post('cancel')
  @HttpCode(200)
  @ApiOkResponse({ type: BulkResultDto })
  @Idempotent()
  @ApiOperation({
    operationId: 'cancelTasks',
    summary: 'Cancel tasks by id or by filter',
  })
  cancel(@CurrentCaller() caller: Caller, @Body() body: BulkCommandDto) {
    return this.bulk.run(caller, 'cancel', body);
  }

  @Post('retry')
  @HttpCode(200)
  @ApiOkResponse({ type: BulkResultDto })
  @Idempotent()
  @ApiOperation({
    operationId: 'retryTasks',
    summary: 'Retry failed and aborted tasks by id or by filter',
  })
  retry(@CurrentCaller() caller: Caller, @Body() body: BulkCommandDto) {
    return this.bulk.run(caller, 'retry', body);
  }

  @Post('archive')
  @HttpCode(200)
  @ApiOkResponse({ type: BulkResultDto })
  @Idempotent()
  @ApiOperation({
    operationId: 'archiveTasks',
    summary: 'Archive finished tasks by id or by filter',
  })
  archive(@CurrentCaller() caller: Caller, @Body() body: BulkCommandDto) {
    return this.bulk.run(caller, 'archive', body);
  }

  @Post('priority')
  @HttpCode(200)
  @ApiOkResponse({ type: BulkResultDto })
  @Idempotent()
  @ApiOperation({
    operationId: 'changeTaskPriorities',
    summary: 'Change the priority of tasks by id; finished tasks are skipped',
  })
  prioritize(@CurrentCaller() caller: Caller, @Body() { ids, priority }: BulkPriorityDto) {
    return this.updates.prioritize(caller, ids, priority);
  }
}
