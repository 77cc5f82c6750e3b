import { Body, Controller, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
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
import type { Caller } from '#lib/kernel';
import { MilestonesService } from '../milestones/milestones.service.js';
import { ProjectsService } from '../projects/projects.service.js';
import { MilestonePageDto, MilestoneDto, ProjectPageDto, ProjectDto } from '../shared/views.js';
import {
  ChangeProjectDto,
  CreateMilestoneDto,
  CreateProjectDto,
  ListQuery,
} from './projects.dto.js';

@ApiTags('projects')
@Controller('projects')
export class ProjectsController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly milestones: MilestonesService,
  ) {}

  @Post()
  @Versioned()
  @Idempotent()
  @Auth({ role: 'MEMBER', scope: 'projects:write' })
  @ApiOperation({ summary: 'Create a project' })
  @ApiCreatedResponse({ type: ProjectDto })
  @ApiErrors('validation_failed')
  create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateProjectDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ): Promise<ProjectDto> {
    return this.projects.create(caller, body, record);
  }

  @Get()
  @Auth({ scope: 'projects:read' })
  @ApiOperation({ summary: 'List projects, the oldest first' })
  @ApiOkResponse({ type: ProjectPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() query: ListQuery): Promise<ProjectPageDto> {
    return this.projects.list(caller, query);
  }

  @Get(':id')
  @Versioned()
  @Auth({ scope: 'projects:read' })
  @ApiOperation({ summary: 'Get a project' })
  @ApiOkResponse({ type: ProjectDto })
  @ApiErrors('validation_failed', 'project_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam('id') id: string): Promise<ProjectDto> {
    return this.projects.get(caller, id);
  }

  @Patch(':id')
  @Versioned()
  @Auth({ role: 'MEMBER', scope: 'projects:write' })
  @ApiOperation({ summary: 'Change a project' })
  @ApiOkResponse({ type: ProjectDto })
  @ApiErrors('validation_failed', 'project_not_found', 'version_mismatch', 'secrets_unreadable')
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Body() body: ChangeProjectDto,
    @IfMatch() version: number | undefined,
  ): Promise<ProjectDto> {
    return this.projects.change(caller, id, body, version);
  }

  @Post(':id/archive')
  @HttpCode(200)
  @Versioned()
  @Auth({ role: 'MEMBER', scope: 'projects:write' })
  @ApiOperation({ summary: 'Archive a project; its tasks stay' })
  @ApiOkResponse({ type: ProjectDto })
  @ApiErrors('validation_failed', 'project_not_found', 'version_mismatch')
  archive(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @IfMatch() version: number | undefined,
  ): Promise<ProjectDto> {
    return this.projects.archive(caller, id, version);
  }

  @Post(':id/milestones')
  @Versioned()
  @Idempotent()
  @Auth({ role: 'MEMBER', scope: 'projects:write' })
  @ApiOperation({ summary: 'Create a milestone of a project' })
  @ApiCreatedResponse({ type: MilestoneDto })
  @ApiErrors('validation_failed', 'project_not_found')
  createMilestone(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Body() body: CreateMilestoneDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ): Promise<MilestoneDto> {
    return this.milestones.create(caller, id, body, record);
  }

  @Get(':id/milestones')
  @Auth({ scope: 'projects:read' })
  @ApiOperation({ summary: 'List the milestones of a project, the oldest first' })
  @ApiOkResponse({ type: MilestonePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'project_not_found')
  listMilestones(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Query() query: ListQuery,
  ): Promise<MilestonePageDto> {
    return this.milestones.list(caller, id, query);
  }
}
