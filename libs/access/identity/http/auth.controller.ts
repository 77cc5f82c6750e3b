import { Body, Controller, Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiErrors, UuidParam } from '#lib/http';
import type { TokenCaller } from '#lib/kernel';
import { type Account, Auth, CurrentAccount, CurrentCaller, Public } from '../access/decorators.js';
import { AccountService, type Profile } from '../auth/account.service.js';
import { AuthService, type SignIn } from '../auth/auth.service.js';
import { Sessions } from '../auth/sessions.js';
import { type CallerView, viewOfCaller } from '../domain/caller-view.js';
import type { SessionView } from '../auth/session-view.js';
import type { UserView } from '../users/user-view.js';
import { SignUpService } from '../users/sign-up.service.js';
import { ChangePasswordDto, SignInDto, RefreshTokensDto, SignUpDto } from './auth.dto.js';
import { CallerDto, ProfileDto, SessionListDto, TokenPairDto } from './auth-answers.dto.js';
import { UserDto } from './users-answers.dto.js';

@ApiTags('auth')
@Controller('auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly sessions: Sessions,
    private readonly accounts: AccountService,
    private readonly signUps: SignUpService,
  ) {}

  @Post('login')
  @HttpCode(200)
  @Public()
  @ApiOperation({ operationId: 'signIn', summary: 'Sign in with e-mail address and password' })
  @ApiOkResponse({ type: TokenPairDto })
  @ApiErrors(
    'validation_failed',
    'invalid_credentials',
    'second_factor_required',
    'invalid_code',
    'workspace_not_found',
    'rate_limited',
    'password_sign_in_off',
  )
  login(@Body() body: SignInDto, @Req() request: FastifyRequest): Promise<SignIn> {
    const userAgent = request.headers['user-agent'];
    return this.auth.login(body, { address: request.ip, userAgent });
  }

  @Post('refresh')
  @HttpCode(200)
  @Public()
  @ApiOperation({
    operationId: 'refreshTokens',
    summary: 'Exchange a refresh token for a new pair',
    description:
      'A refresh token is valid once. If a client sends it again, the server ends the ' +
      'session.',
  })
  @ApiOkResponse({ type: TokenPairDto })
  @ApiErrors('validation_failed', 'invalid_refresh_token', 'workspace_not_found')
  refresh(@Body() body: RefreshTokensDto): Promise<SignIn> {
    return this.auth.refresh(body.refreshToken, body.workspaceId);
  }

  @Post('sign-up')
  @Public()
  @ApiOperation({ summary: 'Sign up, if OPEN_SIGN_UP allows it' })
  @ApiCreatedResponse({ type: UserDto })
  @ApiErrors(
    'validation_failed',
    'forbidden',
    'email_taken',
    'rate_limited',
    'password_sign_in_off',
  )
  signUp(@Body() body: SignUpDto, @Req() request: FastifyRequest): Promise<UserView> {
    return this.signUps.signUp(body, request.ip);
  }

  @Post('logout')
  @HttpCode(204)
  @Auth({ workspace: false })
  @ApiOperation({ operationId: 'signOut', summary: 'Sign out' })
  @ApiNoContentResponse()
  @ApiErrors('session_not_found')
  logout(@CurrentAccount() account: Account): Promise<void> {
    return this.sessions.endOwn(account.userId, account.sessionId);
  }

  @Get('me')
  @Auth({ workspace: false })
  @ApiOperation({ operationId: 'getAccount', summary: 'Get my account and my memberships' })
  @ApiOkResponse({ type: ProfileDto })
  me(@CurrentAccount() account: Account): Promise<Profile> {
    return this.accounts.profile(account);
  }

  @Get('caller')
  @Auth({ kinds: ['user', 'api_key', 'agent', 'run'], scope: 'any' })
  @ApiOperation({
    operationId: 'getCaller',
    summary: 'Get the caller that the credentials name, with its rights',
  })
  @ApiOkResponse({ type: CallerDto })
  caller(@CurrentCaller() caller: TokenCaller): CallerView {
    return viewOfCaller(caller);
  }

  @Get('sessions')
  @Auth({ workspace: false })
  @ApiOperation({ summary: 'List my live sessions, the newest first' })
  @ApiOkResponse({ type: SessionListDto })
  async listSessions(@CurrentAccount() account: Account): Promise<{ items: SessionView[] }> {
    return { items: await this.sessions.list(account.userId, account.sessionId) };
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  @Auth({ workspace: false })
  @ApiOperation({ summary: 'End one of my sessions' })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'session_not_found')
  endSession(
    @CurrentAccount() account: Account,
    @UuidParam('id', { whole: true }) id: string,
  ): Promise<void> {
    return this.sessions.endOwn(account.userId, id);
  }

  @Post('password')
  @HttpCode(204)
  @Auth({ workspace: false })
  @ApiOperation({ summary: 'Change my password and end all my other sessions' })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'invalid_credentials', 'rate_limited')
  changePassword(
    @CurrentAccount() account: Account,
    @Body() body: ChangePasswordDto,
  ): Promise<void> {
    return this.accounts.changePassword(account, body.currentPassword, body.newPassword);
  }
}
