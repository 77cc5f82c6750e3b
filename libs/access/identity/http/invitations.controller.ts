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
import type { Caller, Page } from '#lib/kernel';
import { Auth, CurrentCaller } from '../access/decorators.js';
import { InvitationsService, type InvitationView } from '../workspaces/invitations.service.js';
import { InvitationDto, InvitationPageDto } from './invitations.dto.js';
import { CreateInvitationDto } from './workspaces.dto.js';

@ApiTags('workspaces')
@ApiParam({ name: 'workspaceId', format: 'uuid' })
@Controller('workspaces/:workspaceId/invitations')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get()
  @ApiOperation({ summary: 'List open invitations to a workspace' })
  @ApiOkResponse({ type: InvitationPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'workspace_not_found')
  list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<InvitationView>> {
    return this.invitations.list(caller, query);
  }

  @Post()
  @ApiOperation({
    operationId: 'createInvitation',
    summary: 'Invite an e-mail address to a workspace for 14 days',
    description:
      'The server sends no e-mail, so tell the invited person. They sign in with that ' +
      'address and accept. A new invitation replaces the old one. Only an OWNER can invite ' +
      'an OWNER. An API key needs all scopes to invite anybody.',
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
