import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, IfMatch, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskCommands } from '../commands/task-commands.js';
import type { TaskView } from '../domain/task-view.js';
import { TaskQueries } from '../queries/task-queries.js';
import { CancelTaskDto, PauseTaskDto, TaskCommandDto } from './dto/command.dto.js';
import { TaskDto } from './dto/task.dto.js';

@ApiTags('Tasks')
@Controller('agent-tasks/:id')
@Auth({ role: 'MEMBER', scope: 'tasks:write' })
@ApiErrors('task_not_found', 'illegal_transition', 'version_mismatch')
export class TaskCommandsController {
  constructor(
    private readonly commands: TaskCommands,
    private readonly queries: TaskQueries,
  ) {}

  @Post('cancel')
  @HttpCode(200)
  @ApiOkResponse({ type: TaskDto })
  @Versioned()
  @Idempotent()
  @ApiOperation({ summary: 'Cancel a task and stop its run' })
  cancel(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: CancelTaskDto,
    @IfMatch() version?: number,
  ) {
    return this.answer(
      caller,
      id,
      this.commands.cancel(caller, id, { ...body, ifVersion: version }),
    );
  }

  @Post('pause')
  @HttpCode(200)
  @ApiOkResponse({ type: TaskDto })
  @Versioned()
  @Idempotent()
  @ApiOperation({
    summary: 'Pause a task; its agent saves a checkpoint and stops',
  })
  pause(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: PauseTaskDto,
    @IfMatch() version?: number,
  ) {
    return this.answer(
      caller,
      id,
      this.commands.pause(caller, id, { ...body, ifVersion: version }),
    );
  }

  @Post('resume')
  @HttpCode(200)
  @ApiOkResponse({ type: TaskDto })
  @Versioned()
  @Idempotent()
  @ApiOperation({ summary: 'Resume a paused task from its checkpoint' })
  resume(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: TaskCommandDto,
    @IfMatch() version?: number,
  ) {
    return this.answer(
      caller,
      id,
      this.commands.resume(caller, id, { ...body, ifVersion: version }),
    );
  }

  @Post('retry')
  @HttpCode(200)
  @ApiOkResponse({ type: TaskDto })
  @Versioned()
  @Idempotent()
  @ApiOperation({
    summary: 'Retry a failed or aborted task with all its attempts',
  })
  retry(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: TaskCommandDto,
    @IfMatch() version?: number,
  ) {
    return this.answer(
      caller,
      id,
      this.commands.retry(caller, id, { ...body, ifVersion: version }),
    );
  }

  @Post('archive')
  @HttpCode(200)
  @ApiOkResponse({ type: TaskDto })
  @Versioned()
  @Idempotent()
  @ApiOperation({ summary: 'Archive a finished task' })
  archive(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: TaskCommandDto,
    @IfMatch() version?: number,
  ) {
    return this.answer(
      caller,
      id,
      this.commands.archive(caller, id, { ...body, ifVersion: version }),
    );
  }

  private async answer(caller: Caller, id: string, command: Promise<string[]>): Promise<TaskView> {
    await command;
    return this.queries.get(caller.workspaceId, id);
  }
}
