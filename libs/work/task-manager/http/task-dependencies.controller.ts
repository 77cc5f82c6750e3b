import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, IfMatch, PageQuery, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { TaskDependencies } from '../dependencies/task-dependencies.js';
import { readDependencies } from '../domain/dependencies.js';
import { AddDependenciesDto, GraphQuery, ReplaceDependenciesDto } from './dto/dependencies.dto.js';
import { TaskDependenciesDto, TaskGraphDto } from './dto/task-history.dto.js';

const CHANGE_ERRORS = ['task_not_found', 'dependency_locked', 'version_mismatch'] as const;

@ApiTags('Tasks')
@Controller('agent-tasks/:id/dependencies')
@Auth({ role: 'MEMBER', scope: 'tasks:write' })
export class TaskDependenciesController {
  constructor(private readonly dependencies: TaskDependencies) {}

  @Get()
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' })
  @Versioned()
  @ApiOperation({
    operationId: 'getTaskDependencies',
    summary: 'List the dependencies of a task and a page of its dependents',
  })
  @ApiOkResponse({ type: TaskDependenciesDto })
  @ApiErrors('task_not_found', 'malformed_cursor')
  read(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Query() page: PageQuery) {
    return this.dependencies.read(caller, id, page);
  }

  @Get('graph')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getTaskGraph',
    summary: 'Get the graph of all direct and indirect dependencies and dependents',
  })
  @ApiOkResponse({ type: TaskGraphDto })
  @ApiErrors('task_not_found')
  graph(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Query() { limit }: GraphQuery) {
    return this.dependencies.graph(caller, id, limit);
  }

  @Post()
  @HttpCode(200)
  @Versioned()
  @Idempotent()
  @ApiOperation({
    operationId: 'addTaskDependencies',
    summary: 'Add dependencies to a PENDING task, or change their policies',
  })
  @ApiOkResponse({ type: TaskDependenciesDto })
  @ApiErrors(...CHANGE_ERRORS, 'dependency_cycle')
  add(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: AddDependenciesDto,
    @IfMatch() version: number | undefined,
  ) {
    const change = { kind: 'add', requested: readDependencies(body.dependsOn) } as const;
    return this.dependencies.change(caller, id, change, version);
  }

  @Put()
  @Versioned()
  @ApiOperation({
    operationId: 'replaceTaskDependencies',
    summary: 'Replace the dependencies of a PENDING task',
  })
  @ApiOkResponse({ type: TaskDependenciesDto })
  @ApiErrors(...CHANGE_ERRORS, 'dependency_cycle')
  replace(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReplaceDependenciesDto,
    @IfMatch() version: number | undefined,
  ) {
    const change = { kind: 'replace', requested: readDependencies(body.dependsOn) } as const;
    return this.dependencies.change(caller, id, change, version);
  }

  @Delete(':dependsOnId')
  @Versioned()
  @ApiOperation({ summary: 'Remove a dependency of a PENDING task' })
  @ApiOkResponse({ type: TaskDependenciesDto })
  @ApiErrors(...CHANGE_ERRORS, 'dependency_not_found')
  remove(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @UuidParam('dependsOnId') dependsOnId: string,
    @IfMatch() version: number | undefined,
  ) {
    return this.dependencies.change(caller, id, { kind: 'remove', taskId: dependsOnId }, version);
  }
}
