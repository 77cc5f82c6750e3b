import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiErrors } from '#lib/http';
import { Public } from '../access/decorators.js';
import type { SignIn } from '../auth/auth.service.js';
import { InvitationLinks, type LinkView } from '../workspaces/invitation-links.js';
import { TokenPairDto } from './auth-answers.dto.js';
import {
  InvitationLinkDto,
  LinkedInvitationDto,
  SignUpByInvitationDto,
} from './invitations.dto.js';

/** For people without an account. The token is in the body, because logs have addresses. */
@ApiTags('auth')
@Controller('auth/invitation')
export class InvitationLinksController {
  constructor(private readonly links: InvitationLinks) {}

  @Post()
  @HttpCode(200)
  @Public()
  @ApiOperation({ operationId: 'getInvitation', summary: 'Get the invitation of a link' })
  @ApiOkResponse({ type: LinkedInvitationDto })
  @ApiErrors('validation_failed', 'invitation_not_found', 'rate_limited')
  find(@Body() { token }: InvitationLinkDto, @Req() { ip }: FastifyRequest): Promise<LinkView> {
    return this.links.find(token, ip);
  }

  @Post('sign-up')
  @HttpCode(200)
  @Public()
  @ApiOperation({
    operationId: 'signUpByInvitation',
    summary: 'Create an account, accept the invitation of a link and sign in',
  })
  @ApiOkResponse({ type: TokenPairDto })
  @ApiErrors(
    'validation_failed',
    'invitation_not_found',
    'email_taken',
    'rate_limited',
    'password_sign_in_off',
  )
  signUp(
    @Body() { token, ...user }: SignUpByInvitationDto,
    @Req() { ip: address, headers }: FastifyRequest,
  ): Promise<SignIn> {
    return this.links.signUp(token, user, { address, userAgent: headers['user-agent'] });
  }
}
