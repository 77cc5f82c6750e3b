import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, IfMatch, PageQuery, UuidParam, Versioned } from '#lib/http';
import type { Caller, Page } from '#lib/kernel';
import { Auth, CurrentCaller } from '../access/decorators.js';
import { MembersService } from '../workspaces/members.service.js';
import type { MemberHook } from '../workspaces/member-hooks.js';
import type { MemberView } from '../workspaces/workspace-view.js';
import { AddMemberDto, ChangeMemberDto, KeepHooksQuery } from './workspaces.dto.js';
import {
  ChangedMemberDto,
  MemberDto,
  MemberPageDto,
  RemovedMemberDto,
} from './workspaces-answers.dto.js';

@ApiTags('workspaces')
@ApiParam({ name: 'workspaceId', format: 'uuid' })
@Controller('workspaces/:workspaceId/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Get()
  @Auth({ scope: 'workspace:admin' })
  @ApiOperation({ summary: 'List the members of a workspace' })
  @ApiOkResponse({ type: MemberPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'workspace_not_found')
  list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<MemberView>> {
    return this.members.list(caller, query);
  }

  @Post()
  @Versioned()
  @Auth({ kinds: ['user'], role: 'ADMIN' })
  @ApiOperation({
    summary: 'Add a user as a member without an invitation (operators)',
    description:
      'Callers who are not operators invite an e-mail address instead. Only an OWNER can ' +
      'add an OWNER.',
  })
  @ApiCreatedResponse({ type: MemberDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'user_not_found', 'already_member')
  add(@CurrentCaller() caller: Caller, @Body() body: AddMemberDto): Promise<MemberView> {
    return this.members.add(caller, body.userId, body.role);
  }

  @Patch(':userId')
  @Versioned()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'changeMemberRole',
    summary: 'Change the role of a member; an API key needs all scopes to raise it',
    description:
      'A role below ADMIN disables the webhooks and inbound hooks that the member created. ' +
      '`hooks` lists them.',
  })
  @ApiOkResponse({ type: ChangedMemberDto })
  @ApiErrors('validation_failed', 'member_not_found', 'version_mismatch', 'last_owner')
  changeRole(
    @CurrentCaller() caller: Caller,
    @UuidParam('userId') userId: string,
    @Body() body: ChangeMemberDto,
    @IfMatch() version: number | undefined,
    @Query() { keepHooks }: KeepHooksQuery,
  ): Promise<MemberView & { hooks: MemberHook[] }> {
    return this.members.changeRole(caller, userId, { role: body.role, version, keepHooks });
  }

  @Delete(':userId')
  @Auth({ scope: 'workspace:admin' })
  @ApiOperation({
    summary: 'Remove a member or leave; their agent tokens are revoked, their API keys refused',
    description:
      'The webhooks and inbound hooks that the member created are disabled. `hooks` lists them.',
  })
  @ApiOkResponse({ type: RemovedMemberDto })
  @ApiErrors('validation_failed', 'member_not_found', 'last_owner')
  remove(
    @CurrentCaller() caller: Caller,
    @UuidParam('userId') userId: string,
    @Query() query: KeepHooksQuery,
  ): Promise<{ userId: string; hooks: MemberHook[] }> {
    return this.members.remove(caller, userId, query);
  }
}
