import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  ApiErrors,
  Idempotency,
  type IdempotencyRecord,
  Idempotent,
  UuidParam,
  Versioned,
} from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskContinuation } from '../creation/task-continuation.js';
import { ContinueTaskDto } from './dto/command.dto.js';
import { TaskDto } from './dto/task.dto.js';

@ApiTags('Tasks')
@Controller('agent-tasks/:id/continue')
export class TaskContinuationController {
  constructor(private readonly continuation: TaskContinuation) {}

  @Post()
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @Versioned()
  @Idempotent()
  @ApiOperation({
    operationId: 'continueTask',
    summary: 'Continue the conversation of a finished task in a new task',
    description:
      'If the task has a repository, the new task has a branch of its own, which begins with the ' +
      'target. To go on with a failed change on its branch, comment on it and retry its task.',
  })
  @ApiCreatedResponse({ type: TaskDto })
  @ApiErrors('task_not_found', 'not_continuable', 'secrets_unreadable', 'queue_full')
  @ApiErrors('project_archived', 'milestone_archived', 'model_not_allowed')
  @ApiErrors('repository_archived')
  continue(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ContinueTaskDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.continuation.continue(caller, id, body, record);
  }
}
