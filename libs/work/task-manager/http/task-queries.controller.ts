import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, PageQuery, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { atLeast } from '../domain/log-view.js';
import { TaskHistory } from '../queries/task-history.js';
import { TaskQueries } from '../queries/task-queries.js';
import { TaskThroughput } from '../queries/task-throughput.js';
import { ListTasksQuery, TaskLogsQuery } from './dto/list-tasks.dto.js';
import { TaskLogPageDto, RunPageDto } from './dto/task-history.dto.js';
import { TaskDto, TaskPageDto } from './dto/task.dto.js';
import { TaskCountsDto, ThroughputDto, ThroughputQuery } from './dto/throughput.dto.js';

/**
 * People see every task of their workspace. An agent sees the tasks that it holds, and a run its
 * own.
 */
const READERS = { kinds: ['user', 'api_key', 'agent', 'run'], scope: 'tasks:read' } as const;

@ApiTags('Tasks')
@Controller('agent-tasks')
@Auth(READERS)
export class TaskQueriesController {
  constructor(
    private readonly queries: TaskQueries,
    private readonly history: TaskHistory,
    private readonly throughput: TaskThroughput,
  ) {}

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'List tasks, the newest first' })
  @ApiOkResponse({ type: TaskPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  @ApiErrors('agent_not_found', 'project_not_found', 'milestone_not_found', 'task_not_found')
  list(@CurrentCaller() caller: Caller, @Query() query: ListTasksQuery) {
    return this.queries.list(caller, query, query);
  }

  @Get('throughput')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'getThroughput',
    summary: 'Get the throughput of tasks',
  })
  @ApiOkResponse({ type: ThroughputDto })
  @ApiErrors('validation_failed')
  throughputOf(@CurrentCaller() caller: Caller, @Query() { minutes }: ThroughputQuery) {
    return this.throughput.read(caller, minutes);
  }

  @Get('counts')
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ operationId: 'getTaskCounts', summary: 'Count the tasks that wait and run' })
  @ApiOkResponse({ type: TaskCountsDto })
  counts(@CurrentCaller() caller: Caller) {
    return this.throughput.counts(caller);
  }

  @Get(':id')
  @Versioned()
  @ApiOperation({ operationId: 'getTask', summary: 'Read a task' })
  @ApiOkResponse({ type: TaskDto })
  @ApiErrors('task_not_found', 'secrets_unreadable')
  read(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.queries.read(caller, id);
  }

  @Get(':id/runs')
  @ApiOperation({
    operationId: 'listTaskRuns',
    summary: 'List the runs of a task, the latest first',
  })
  @ApiOkResponse({ type: RunPageDto })
  @ApiErrors('task_not_found', 'malformed_cursor')
  runs(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Query() page: PageQuery) {
    return this.history.runs(caller, id, page);
  }

  @Get(':id/logs')
  @ApiOperation({ operationId: 'listTaskLogs', summary: 'Read the log of a task, or follow it' })
  @ApiOkResponse({ type: TaskLogPageDto })
  @ApiErrors('task_not_found', 'malformed_cursor')
  logs(@CurrentCaller() caller: Caller, @UuidParam() id: string, @Query() query: TaskLogsQuery) {
    const { level, event, order = 'desc', follow } = query;
    const filter = { levels: level && atLeast(level), event, order, follow: follow === 'true' };
    return this.history.logs(caller, id, filter, query);
  }
}
