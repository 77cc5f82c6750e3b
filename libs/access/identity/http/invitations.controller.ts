import { Body, Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, PageQuery, UuidParam } from '#lib/http';
import type { Caller, MemberRole, Page } from '#lib/kernel';
import { type Account, Auth, CurrentAccount, CurrentCaller } from '../access/decorators.js';
import {
  InvitationsService,
  type InvitationView,
  type OwnInvitationView,
} from '../workspaces/invitations.service.js';
import {
  AcceptedInvitationDto,
  InvitationDto,
  InvitationPageDto,
  OwnInvitationPageDto,
} from './invitations.dto.js';
import { CreateInvitationDto } from './workspaces.dto.js';

@ApiTags('workspaces')
@ApiParam({ name: 'workspaceId', format: 'uuid' })
@Controller('workspaces/:workspaceId/invitations')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get()
  @ApiOperation({ summary: 'The invitations into a workspace that nobody has answered' })
  @ApiOkResponse({ type: InvitationPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'workspace_not_found')
  list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<InvitationView>> {
    return this.invitations.list(caller, query);
  }

  @Post()
  @ApiOperation({
    operationId: 'createInvitation',
    summary: 'Invite an e-mail address into a workspace, for 14 days',
    description:
      'Sends no mail: tell the invited of it. They sign in with that address, and accept. Inviting again replaces the ' +
      'invitation. Only an OWNER invites an OWNER, and an API key needs all scopes to invite anybody.',
  })
  @ApiCreatedResponse({ type: InvitationDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'already_member')
  invite(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateInvitationDto,
  ): Promise<InvitationView> {
    return this.invitations.invite(caller, body.email, body.role);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke an invitation' })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'workspace_not_found', 'invitation_not_found')
  revoke(@CurrentCaller() caller: Caller, @UuidParam('id') id: string): Promise<void> {
    return this.invitations.revoke(caller, id);
  }
}

@ApiTags('workspaces')
@Controller('invitations')
@Auth({ workspace: false })
export class OwnInvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get()
  @ApiOperation({
    summary: 'The invitations to my e-mail address',
    description:
      'Where anybody may sign up, a password proves no address: users with one see none here, and accept by the id ' +
      'that the inviting side tells them.',
  })
  @ApiOkResponse({ type: OwnInvitationPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(
    @CurrentAccount() { userId }: Account,
    @Query() query: PageQuery,
  ): Promise<Page<OwnInvitationView>> {
    return this.invitations.listOwn(userId, query);
  }

  @Post(':id/accept')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation to my e-mail address, and become a member',
  })
  @ApiOkResponse({ type: AcceptedInvitationDto })
  @ApiErrors('validation_failed', 'invitation_not_found', 'already_member')
  accept(
    @CurrentAccount() { userId }: Account,
    @UuidParam('id') id: string,
  ): Promise<{ workspaceId: string; role: MemberRole }> {
    return this.invitations.accept(userId, id);
  }

  @Post(':id/decline')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'declineInvitation',
    summary: 'Decline an invitation to my e-mail address',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'invitation_not_found')
  decline(@CurrentAccount() { userId }: Account, @UuidParam('id') id: string): Promise<void> {
    return this.invitations.decline(userId, id);
  }
}
