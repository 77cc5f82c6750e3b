import { Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Hot, type HotCall, Idempotent, Prefer, Versioned } from '#lib/http';
import { Auth } from '#lib/identity';
import { TaskCreation } from '../creation/task-creation.js';
import { TaskDto, TaskListDto } from './dto/task.dto.js';
import { CreateTasksDto, CreateTaskDto } from './dto/task-requests.dto.js';

/** Agents and runs create tasks below their own task. */
const CREATORS = {
  kinds: ['user', 'api_key', 'agent', 'run'],
  role: 'MEMBER',
  scope: 'tasks:write',
} as const;

@ApiTags('Tasks')
@Controller('agent-tasks')
export class TaskCreationController {
  constructor(private readonly creation: TaskCreation) {}

  @Post()
  @Auth(CREATORS)
  @Versioned()
  @Idempotent()
  @Hot({ body: CreateTaskDto })
  @ApiOperation({
    summary: 'Create a task, or a subtask as an agent or run',
  })
  @ApiCreatedResponse({ type: TaskDto })
  @ApiErrors(
    'task_not_found',
    'project_not_found',
    'project_archived',
    'repository_not_found',
    'repository_archived',
    'milestone_not_found',
    'milestone_archived',
    'model_not_allowed',
    'queue_full',
    'subtask_limit',
    'run_commands_forbidden',
    'stale_run',
  )
  create({ caller, body, idempotency, traceparent }: HotCall<CreateTaskDto>) {
    return this.creation.createOne(caller, body, idempotency, traceparent);
  }

  @Post('batch')
  @Auth(CREATORS)
  @Idempotent()
  @Hot({ body: CreateTasksDto })
  @ApiOperation({
    operationId: 'createTasks',
    summary: 'Create up to 1,000 tasks, all or none; they can depend on each other by ref',
  })
  @Prefer()
  @ApiCreatedResponse({ type: TaskListDto })
  @ApiErrors(
    'task_not_found',
    'project_not_found',
    'project_archived',
    'repository_not_found',
    'repository_archived',
    'milestone_not_found',
    'milestone_archived',
    'model_not_allowed',
    'dependency_cycle',
    'queue_full',
    'exceeds_queue',
    'subtask_limit',
    'run_commands_forbidden',
    'stale_run',
  )
  createBatch({
    caller,
    body,
    idempotency: record,
    traceparent,
    reply,
    minimal,
  }: HotCall<CreateTasksDto>) {
    if (minimal) void reply.header('Preference-Applied', 'return=minimal');
    return this.creation.createBatch(caller, body.tasks, { record, traceparent, minimal });
  }
}
