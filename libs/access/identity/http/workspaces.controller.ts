import { Body, Controller, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, IfMatch, PageQuery, Versioned } from '#lib/http';
import type { Caller, MemberRole, Page } from '#lib/kernel';
import { type Account, Auth, CurrentAccount, CurrentCaller } from '../access/decorators.js';
import type { WorkspaceView } from '../workspaces/workspace-view.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { ChangeWorkspaceDto, CreateWorkspaceDto } from './workspaces.dto.js';
import { WorkspaceDto, WorkspacePageDto } from './workspaces-answers.dto.js';

@ApiTags('workspaces')
@Controller('workspaces')
export class WorkspacesController {
  constructor(private readonly workspaces: WorkspacesService) {}

  @Post()
  @Auth({ workspace: false })
  @ApiOperation({ summary: 'Create a workspace and become its OWNER' })
  @ApiCreatedResponse({ type: WorkspaceDto })
  @ApiErrors('validation_failed', 'slug_taken', 'workspace_limit')
  create(
    @CurrentAccount() account: Account,
    @Body() body: CreateWorkspaceDto,
  ): Promise<WorkspaceView> {
    return this.workspaces.create(account, body);
  }

  @Get()
  @Auth({ workspace: false })
  @ApiOperation({ summary: 'List my workspaces' })
  @ApiOkResponse({ type: WorkspacePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(
    @CurrentAccount() account: Account,
    @Query() query: PageQuery,
  ): Promise<Page<WorkspaceView & { role: MemberRole }>> {
    return this.workspaces.listOwn(account.userId, query);
  }

  @Get(':workspaceId')
  @Versioned()
  @Auth({ scope: 'projects:read' })
  @ApiParam({ name: 'workspaceId', format: 'uuid' })
  @ApiOperation({ summary: 'Get a workspace' })
  @ApiOkResponse({ type: WorkspaceDto })
  @ApiErrors('validation_failed', 'workspace_not_found')
  get(@CurrentCaller() caller: Caller): Promise<WorkspaceView> {
    return this.workspaces.get(caller);
  }

  @Patch(':workspaceId')
  @Versioned()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiParam({ name: 'workspaceId', format: 'uuid' })
  @ApiOperation({
    operationId: 'renameWorkspace',
    summary: 'Rename a workspace, or change what its runs and sessions can do',
  })
  @ApiOkResponse({ type: WorkspaceDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'version_mismatch')
  change(
    @CurrentCaller() caller: Caller,
    @Body() body: ChangeWorkspaceDto,
    @IfMatch() version: number | undefined,
  ): Promise<WorkspaceView> {
    return this.workspaces.change(caller, body, version);
  }

  @Post(':workspaceId/archive')
  @HttpCode(200)
  @Auth({ kinds: ['user'], role: 'OWNER' })
  @ApiParam({ name: 'workspaceId', format: 'uuid' })
  @ApiOperation({
    summary: 'Archive a workspace for good; its tokens, runs and sessions end, its data stays',
  })
  @ApiOkResponse({ type: WorkspaceDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'version_mismatch')
  archive(
    @CurrentCaller() caller: Caller,
    @IfMatch() version: number | undefined,
  ): Promise<WorkspaceView> {
    return this.workspaces.archive(caller, version);
  }
}
