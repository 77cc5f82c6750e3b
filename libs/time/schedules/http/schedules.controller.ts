import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, IfMatch, PageQuery, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, idOfCursor, numberOfCursor } from '#lib/kernel';
import { type Manager, Schedules } from '../schedules/schedules.js';
import { ScheduleStarter } from '../starting/schedule-starter.js';
import {
  ChangeScheduleDto,
  CreateScheduleDto,
  DueTimesDto,
  DueTimesQuery,
  ListSchedulesQuery,
  PauseScheduleDto,
  PreviewScheduleDto,
  ScheduleDto,
  ScheduleOccurrenceDto,
  ScheduleOccurrencePageDto,
  SchedulePageDto,
} from './schedules.dto.js';

const MANAGERS = { kinds: ['user', 'api_key'], role: 'MEMBER', scope: 'tasks:write' } as const;
const READERS = { kinds: ['user', 'api_key'], scope: 'tasks:read' } as const;

const DEFAULT_DUE_TIMES = 10;

/** The refusals of the tasks of a schedule. */
const OF_TASKS = [
  'task_not_found',
  'project_not_found',
  'project_archived',
  'milestone_not_found',
  'milestone_archived',
  'model_not_allowed',
  'agent_not_found',
  'agent_terminated',
  'dependency_cycle',
] as const;

@ApiTags('Schedules')
@Controller('schedules')
export class SchedulesController {
  constructor(
    private readonly schedules: Schedules,
    private readonly starter: ScheduleStarter,
  ) {}

  @Post()
  @Auth(MANAGERS)
  @Versioned()
  @ApiOperation({ summary: 'Create a schedule' })
  @ApiCreatedResponse({ type: ScheduleDto })
  @ApiErrors('validation_failed', 'schedule_exists', 'schedule_limit', ...OF_TASKS)
  create(@CurrentCaller() caller: Caller, @Body() body: CreateScheduleDto) {
    return this.schedules.create(caller as Manager, body);
  }

  @Get()
  @Auth(READERS)
  @ApiOperation({ summary: 'List schedules, the newest first' })
  @ApiOkResponse({ type: SchedulePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() { limit, cursor, ...filter }: ListSchedulesQuery) {
    return this.schedules.list(caller, { limit, before: idOfCursor(cursor), ...filter });
  }

  @Post('preview')
  @HttpCode(200)
  @Auth(READERS)
  @ApiOperation({
    operationId: 'listDueTimes',
    summary: 'List the next due times of a cron expression or an interval',
  })
  @ApiOkResponse({ type: DueTimesDto })
  @ApiErrors('validation_failed')
  async preview(@CurrentCaller() caller: Caller, @Body() body: PreviewScheduleDto) {
    const { count = DEFAULT_DUE_TIMES, ...rule } = body;
    return { items: await this.schedules.preview(caller, rule, count) };
  }

  @Get(':id')
  @Auth(READERS)
  @Versioned()
  @ApiOperation({ summary: 'Get a schedule' })
  @ApiOkResponse({ type: ScheduleDto })
  @ApiErrors('validation_failed', 'schedule_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.schedules.get(caller, id);
  }

  @Patch(':id')
  @Auth(MANAGERS)
  @Versioned()
  @ApiOperation({ summary: 'Change a schedule; a new rule counts from now on' })
  @ApiOkResponse({ type: ScheduleDto })
  @ApiErrors('validation_failed', 'schedule_not_found', 'schedule_exists', 'version_mismatch')
  @ApiErrors('secrets_unreadable', ...OF_TASKS)
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ChangeScheduleDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.schedules.change(caller as Manager, id, body, version);
  }

  @Delete(':id')
  @Auth(MANAGERS)
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeSchedule',
    summary: 'Delete a schedule; its tasks stay',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'schedule_not_found')
  remove(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.schedules.remove(caller, id);
  }

  @Post(':id/pause')
  @Auth(MANAGERS)
  @HttpCode(200)
  @Versioned()
  @ApiOperation({ summary: 'Pause a schedule; its tasks go on' })
  @ApiOkResponse({ type: ScheduleDto })
  @ApiErrors('validation_failed', 'schedule_not_found')
  pause(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() { reason }: PauseScheduleDto,
  ) {
    return this.schedules.pause(caller, id, reason);
  }

  @Post(':id/resume')
  @Auth(MANAGERS)
  @HttpCode(200)
  @Versioned()
  @ApiOperation({
    summary: 'Resume a schedule; due times that passed during the pause create no tasks',
  })
  @ApiOkResponse({ type: ScheduleDto })
  @ApiErrors('validation_failed', 'schedule_not_found')
  resume(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.schedules.resume(caller, id);
  }

  @Post(':id/run')
  @Auth(MANAGERS)
  @ApiOperation({
    summary: 'Create the tasks of a schedule now, also while it is paused or tasks are unfinished',
  })
  @ApiCreatedResponse({ type: ScheduleOccurrenceDto })
  @ApiErrors('validation_failed', 'schedule_not_found', 'queue_full', 'exceeds_queue')
  @ApiErrors('secrets_unreadable', ...OF_TASKS)
  run(@CurrentCaller() { workspaceId }: Caller, @UuidParam() id: string) {
    return this.starter.startNow(workspaceId, id);
  }

  @Get(':id/due-times')
  @Auth(READERS)
  @ApiOperation({
    operationId: 'listScheduleDueTimes',
    summary: 'List the next due times of a schedule, as if it were not paused',
  })
  @ApiOkResponse({ type: DueTimesDto })
  @ApiErrors('validation_failed', 'schedule_not_found')
  async dueTimes(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Query() { count = DEFAULT_DUE_TIMES }: DueTimesQuery,
  ) {
    return { items: await this.schedules.dueTimes(caller, id, count) };
  }

  @Get(':id/occurrences')
  @Auth(READERS)
  @ApiOperation({
    operationId: 'listScheduleOccurrences',
    summary: 'List the past due times of a schedule, the latest first',
  })
  @ApiOkResponse({ type: ScheduleOccurrencePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'schedule_not_found')
  occurrences(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Query() { limit, cursor }: PageQuery,
  ) {
    return this.schedules.occurrences(caller, id, { limit, before: numberOfCursor(cursor) });
  }
}
