import { Body, Controller, Delete, Get, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '#lib/config';
import { ApiErrors, PageQuery, UuidParam } from '#lib/http';
import type { Caller, Page } from '#lib/kernel';
import { Auth, CurrentCaller } from '../access/decorators.js';
import { linkOf } from '../domain/link-token.js';
import { InvitationsService, type InvitationView } from '../workspaces/invitations.service.js';
import { InvitationPageDto, NewInvitationDto } from './invitations.dto.js';
import { CreateInvitationDto } from './workspaces.dto.js';

@ApiTags('workspaces')
@ApiParam({ name: 'workspaceId', format: 'uuid' })
@Controller('workspaces/:workspaceId/invitations')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class InvitationsController {
  constructor(
    private readonly invitations: InvitationsService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'http'>,
  ) {}

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
    summary: 'Invite a person to a workspace for 14 days',
    description:
      'A server with SMTP_URL sends the link to the address; `emailStatus` has the result. ' +
      'Otherwise send the link to the person. It leads a person without an account through ' +
      'creating one. Others sign in and accept. A new invitation of an address replaces the old ' +
      'one, and sends the e-mail again. Only an OWNER can invite an OWNER. An API key needs all ' +
      'scopes to invite anybody.',
  })
  @ApiCreatedResponse({ type: NewInvitationDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'already_member')
  async invite(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateInvitationDto,
    @Req() { protocol, host }: FastifyRequest,
  ): Promise<InvitationView & { link: string }> {
    const made = await this.invitations.invite(caller, body.email, body.role);
    const { token, ...invitation } = made;
    return {
      ...invitation,
      link: linkOf(this.config.http.publicUrl ?? `${protocol}://${host}`, token),
    };
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
