import { Body, Controller, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, IfMatch, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskUpdates } from '../updates/task-updates.js';
import { TaskDto } from './dto/task.dto.js';
import { AssignTaskDto, UpdateTaskDto } from './dto/task-requests.dto.js';

@ApiTags('Tasks')
@Controller('agent-tasks')
@Auth({ role: 'MEMBER', scope: 'tasks:write' })
export class TaskUpdateController {
  constructor(private readonly updates: TaskUpdates) {}

  @Patch(':id')
  @Versioned()
  @ApiOperation({ summary: 'Change a task, or pause, resume, cancel or archive it by its status' })
  @ApiOkResponse({ type: TaskDto })
  @ApiErrors(
    'task_not_found',
    'agent_not_found',
    'agent_terminated',
    'project_not_found',
    'project_archived',
    'milestone_not_found',
    'milestone_archived',
    'model_not_allowed',
    'task_closed',
    'illegal_transition',
    'secrets_unreadable',
    'version_mismatch',
  )
  update(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: UpdateTaskDto,
    @IfMatch() ifVersion: number | undefined,
  ) {
    const { status, reason, ...fields } = body;
    return this.updates.update(caller, id, { fields, status, reason, ifVersion });
  }

  @Post(':id/assign')
  @HttpCode(200)
  @Versioned()
  @Idempotent()
  @ApiOperation({ summary: 'Assign a task to one agent, or to any agent with null' })
  @ApiOkResponse({ type: TaskDto })
  @ApiErrors('task_not_found', 'agent_not_found', 'agent_terminated')
  @ApiErrors('task_closed', 'version_mismatch')
  assign(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() { agentId }: AssignTaskDto,
    @IfMatch() ifVersion: number | undefined,
  ) {
    return this.updates.update(caller, id, { fields: { agentId }, ifVersion });
  }
}
