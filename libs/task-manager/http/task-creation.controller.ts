import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotency, type IdempotencyRecord, Idempotent, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskCreation } from '../creation/task-creation.js';
import { CreateBatchDto, CreateTaskDto } from './dto/create-task.dto.js';
import { TaskDto, TaskListDto } from './dto/task.dto.js';

@ApiTags('Tasks')
@Controller('agent-tasks')
export class TaskCreationController {
  constructor(private readonly creation: TaskCreation) {}

  @Post()
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @Versioned()
  @Idempotent()
  @ApiOperation({ summary: 'Create a task' })
  @ApiCreatedResponse({ type: TaskDto })
  @ApiErrors(
    'validation_failed',
    'task_not_found',
    'project_not_found',
    'project_archived',
    'milestone_not_found',
    'queue_full',
  )
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateTaskDto,
    @Idempotency() record?: IdempotencyRecord,
  ) {
    return this.creation.createOne(caller, body, record);
  }

  @Post('batch')
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @Idempotent()
  @ApiOperation({
    summary: 'Create up to 1,000 tasks, all or none; they may depend on each other by ref',
  })
  @ApiCreatedResponse({ type: TaskListDto })
  @ApiErrors(
    'validation_failed',
    'task_not_found',
    'project_not_found',
    'project_archived',
    'dependency_cycle',
    'queue_full',
    'exceeds_queue',
  )
  createBatch(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateBatchDto,
    @Idempotency() record?: IdempotencyRecord,
  ) {
    return this.creation.createBatch(caller, body.tasks, record);
  }
}
