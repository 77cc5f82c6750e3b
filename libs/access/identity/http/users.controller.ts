import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, IfMatch, PageQuery, UuidParam, Versioned } from '#lib/http';
import type { Page } from '#lib/kernel';
import { Auth } from '../access/decorators.js';
import { ExternalIdentities } from '../oidc/external-identities.js';
import type { UserView } from '../users/user-view.js';
import type { UserHook } from '../workspaces/member-hooks.js';
import { UsersService } from '../users/users.service.js';
import { ChangeUserDto, CreateUserDto } from './users.dto.js';
import { KeepHooksQuery } from './workspaces.dto.js';
import {
  ChangedUserDto,
  NewPasswordDto,
  NewUserDto,
  UserPageDto,
  UserDto,
} from './users-answers.dto.js';

@ApiTags('users')
@Controller('users')
@Auth({ workspace: false, operator: true })
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly identities: ExternalIdentities,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a user (operators)' })
  @ApiCreatedResponse({ type: NewUserDto })
  @ApiErrors('validation_failed', 'email_taken')
  create(@Body() body: CreateUserDto): Promise<UserView> {
    return this.users.create(body);
  }

  @Get()
  @ApiOperation({ summary: 'List all users, the oldest first (operators)' })
  @ApiOkResponse({ type: UserPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@Query() query: PageQuery): Promise<Page<UserView>> {
    return this.users.list(query);
  }

  @Get(':id')
  @Versioned()
  @ApiOperation({ summary: 'Get a user (operators)' })
  @ApiOkResponse({ type: UserDto })
  @ApiErrors('validation_failed', 'user_not_found')
  get(@UuidParam('id', { whole: true }) id: string): Promise<UserView> {
    return this.users.get(id);
  }

  @Patch(':id')
  @Versioned()
  @ApiOperation({
    summary: 'Rename, disable, enable, verify or promote a user (operators)',
    description:
      'The webhooks and inbound hooks that a disabled user created are disabled in all workspaces of ' +
      'the user. `hooks` lists them. Enabling the user does not enable them. `emailVerified` of an ' +
      'unverified address does the same, and ends sessions, API keys, agent tokens, the invitations ' +
      'of the account, password and second factor, because somebody else may have made the account.',
  })
  @ApiOkResponse({ type: ChangedUserDto })
  @ApiErrors('validation_failed', 'user_not_found', 'version_mismatch', 'last_operator')
  change(
    @UuidParam('id', { whole: true }) id: string,
    @Body() body: ChangeUserDto,
    @Query() { keepHooks }: KeepHooksQuery,
    @IfMatch() version: number | undefined,
  ): Promise<UserView & { hooks: UserHook[] }> {
    return this.users.change(id, body, { version, keepHooks });
  }

  @Post(':id/password')
  @ApiOperation({
    operationId: 'resetUserPassword',
    summary: 'Reset the password of a user and end their sessions (operators)',
  })
  @ApiCreatedResponse({ type: NewPasswordDto })
  @ApiErrors('validation_failed', 'user_not_found')
  resetPassword(
    @UuidParam('id', { whole: true }) id: string,
  ): Promise<{ userId: string; generatedPassword: string }> {
    return this.users.resetPassword(id);
  }

  @Delete(':id/links')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeUserLinks',
    summary: 'Remove the links of a user to the identity provider (operators)',
    description:
      'Ends the sessions of single sign-on. The next single sign-on with the address makes a new ' +
      'link, also for another subject of the provider.',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'user_not_found')
  async unlink(@UuidParam('id', { whole: true }) id: string): Promise<void> {
    await this.users.get(id);
    await this.identities.unlink(id);
  }
}
