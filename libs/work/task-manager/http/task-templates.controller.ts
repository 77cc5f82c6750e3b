import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
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
import { type ApiKeyCaller, type Caller, idOfCursor, type UserCaller } from '#lib/kernel';
import { TaskTemplates } from '../templates/task-templates.js';
import { TaskDto } from './dto/task.dto.js';
import {
  ChangeTaskTemplateDto,
  CreateTaskTemplateDto,
  ListTaskTemplatesQuery,
  TaskOfTemplateDto,
  TaskTemplateDto,
  TaskTemplatePageDto,
} from './dto/task-templates.dto.js';

const MANAGERS = { kinds: ['user', 'api_key'], role: 'MEMBER', scope: 'tasks:write' } as const;
const READERS = { kinds: ['user', 'api_key'], scope: 'tasks:read' } as const;

/** The refusals of the task of a template. */
const OF_TASK = [
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
] as const;

@ApiTags('Task templates')
@Controller('task-templates')
export class TaskTemplatesController {
  constructor(private readonly templates: TaskTemplates) {}

  @Post()
  @Auth(MANAGERS)
  @Versioned()
  @ApiOperation({ summary: 'Create a template for tasks' })
  @ApiCreatedResponse({ type: TaskTemplateDto })
  @ApiErrors('task_template_exists', 'task_template_limit', ...OF_TASK)
  create(@CurrentCaller() caller: Caller, @Body() body: CreateTaskTemplateDto) {
    return this.templates.create(caller as UserCaller | ApiKeyCaller, body);
  }

  @Get()
  @Auth(READERS)
  @ApiOperation({ summary: 'List templates for tasks, the newest first' })
  @ApiOkResponse({ type: TaskTemplatePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() { limit, cursor, name }: ListTaskTemplatesQuery) {
    return this.templates.list(caller, { limit, before: idOfCursor(cursor), name });
  }

  @Get(':id')
  @Auth(READERS)
  @Versioned()
  @ApiOperation({ summary: 'Get a template for tasks' })
  @ApiOkResponse({ type: TaskTemplateDto })
  @ApiErrors('validation_failed', 'task_template_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.templates.get(caller, id);
  }

  @Patch(':id')
  @Auth(MANAGERS)
  @Versioned()
  @ApiOperation({ summary: 'Change a template for tasks; its tasks stay as they are' })
  @ApiOkResponse({ type: TaskTemplateDto })
  @ApiErrors('task_template_not_found', 'task_template_exists', 'version_mismatch', ...OF_TASK)
  @ApiErrors('secrets_unreadable')
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ChangeTaskTemplateDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.templates.change(caller, id, body, version);
  }

  @Delete(':id')
  @Auth(MANAGERS)
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeTaskTemplate',
    summary: 'Delete a template for tasks; its tasks stay',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'task_template_not_found')
  remove(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.templates.remove(caller, id);
  }

  @Post(':id/tasks')
  @Auth(MANAGERS)
  @Versioned()
  @Idempotent()
  @ApiOperation({
    operationId: 'createTaskOfTemplate',
    summary: 'Create a task with the fields of a template; those of the body replace them',
    description:
      'A field of the body replaces the whole field of the template. `null` leaves the field out, and a ' +
      '`[redacted]` keeps the value that it hides. The name of the template is the default title.',
  })
  @ApiCreatedResponse({ type: TaskDto })
  @ApiErrors('task_template_not_found', 'secrets_unreadable', 'queue_full', ...OF_TASK)
  createTask(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: TaskOfTemplateDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.templates.createTask(caller, id, body, record);
  }
}
