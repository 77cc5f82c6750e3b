import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, PageQuery, UuidParam } from '#lib/http';
import type { Page } from '#lib/kernel';
import { type Account, Auth, CurrentAccount } from '../access/decorators.js';
import {
  type AcceptedInvitation,
  InvitationsService,
  type OwnInvitationView,
} from '../workspaces/invitations.service.js';
import {
  AcceptedInvitationDto,
  InvitationLinkDto,
  OwnInvitationPageDto,
} from './invitations.dto.js';

@ApiTags('workspaces')
@Controller('invitations')
@Auth({ workspace: false })
export class OwnInvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Get()
  @ApiOperation({
    summary: 'List invitations to my e-mail address',
    description:
      'If anybody can sign up, a password does not prove an e-mail address. Users with a ' +
      'password then see no invitations here. They accept by the id that the inviting ' +
      'member gives them.',
  })
  @ApiOkResponse({ type: OwnInvitationPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(
    @CurrentAccount() { userId }: Account,
    @Query() query: PageQuery,
  ): Promise<Page<OwnInvitationView>> {
    return this.invitations.listOwn(userId, query);
  }

  @Post('accept')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'acceptInvitationLink',
    summary: 'Accept the invitation of a link',
    description: 'An invitation of another e-mail address than mine is not found.',
  })
  @ApiOkResponse({ type: AcceptedInvitationDto })
  @ApiErrors('validation_failed', 'invitation_not_found', 'already_member')
  acceptLink(
    @CurrentAccount() { userId }: Account,
    @Body() { token }: InvitationLinkDto,
  ): Promise<AcceptedInvitation> {
    return this.invitations.acceptByLink(userId, token);
  }

  @Post(':id/accept')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation to my e-mail address',
  })
  @ApiOkResponse({ type: AcceptedInvitationDto })
  @ApiErrors('validation_failed', 'invitation_not_found', 'already_member')
  accept(
    @CurrentAccount() { userId }: Account,
    @UuidParam('id', { whole: true }) id: string,
  ): Promise<AcceptedInvitation> {
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
  decline(
    @CurrentAccount() { userId }: Account,
    @UuidParam('id', { whole: true }) id: string,
  ): Promise<void> {
    return this.invitations.decline(userId, id);
  }
}
