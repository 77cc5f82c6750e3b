import { Body, Controller, Get, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '#lib/config';
import { ApiErrors } from '#lib/http';
import { Public } from '../access/decorators.js';
import type { SignInChecks } from '../oidc/provider.js';
import { type DeviceSignIn, type SingleSignIn, SingleSignOn } from '../oidc/single-sign-on.js';
import {
  CompleteDeviceSignInDto,
  CompleteSingleSignOnDto,
  DeviceSignInDto,
  SignInMethodsDto,
  SingleSignInDto,
  SingleSignOnDto,
} from './single-sign-on.dto.js';

@ApiTags('auth')
@Controller('auth')
export class SingleSignOnController {
  constructor(
    private readonly singleSignOn: SingleSignOn,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  @Get('methods')
  @Public()
  @ApiOperation({ operationId: 'getSignInMethods', summary: 'Get the ways to sign in here' })
  @ApiOkResponse({ type: SignInMethodsDto })
  methods(): SignInMethodsDto {
    const { passwordSignIn: password, singleSignOn } = this.config.identity;
    return { password, singleSignOn: singleSignOn ? { name: singleSignOn.name } : null };
  }

  @Post('single-sign-on')
  @HttpCode(200)
  @Public()
  @ApiOperation({
    operationId: 'startSingleSignOn',
    summary: 'Start a sign-in with the identity provider',
    description: 'Authorization code with PKCE. The server keeps nothing of it.',
  })
  @ApiOkResponse({ type: SingleSignOnDto })
  @ApiErrors('single_sign_on_off', 'issuer_unavailable', 'rate_limited')
  start(@Req() { ip }: FastifyRequest): Promise<SignInChecks & { url: string }> {
    return this.singleSignOn.start(ip);
  }

  @Post('single-sign-on/complete')
  @HttpCode(200)
  @Public()
  @ApiOperation({
    operationId: 'completeSingleSignOn',
    summary: 'Sign in with the answer of the identity provider',
  })
  @ApiOkResponse({ type: SingleSignInDto })
  @ApiErrors(
    'validation_failed',
    'single_sign_on_off',
    'sign_in_refused',
    'email_not_verified',
    'email_taken',
    'account_disabled',
    'no_account',
    'issuer_unavailable',
    'rate_limited',
  )
  complete(
    @Body() { parameters, ...checks }: CompleteSingleSignOnDto,
    @Req() { ip: address, headers }: FastifyRequest,
  ): Promise<SingleSignIn> {
    const origin = { address, userAgent: headers['user-agent'] };
    return this.singleSignOn.complete(parameters, checks, origin);
  }

  @Post('device')
  @HttpCode(200)
  @Public()
  @ApiOperation({
    operationId: 'startDeviceSignIn',
    summary: 'Start a sign-in that the user confirms in another browser',
  })
  @ApiOkResponse({ type: DeviceSignInDto })
  @ApiErrors('single_sign_on_off', 'sign_in_refused', 'issuer_unavailable', 'rate_limited')
  startDevice(@Req() { ip }: FastifyRequest): Promise<DeviceSignIn> {
    return this.singleSignOn.startDevice(ip);
  }

  @Post('device/complete')
  @HttpCode(200)
  @Public()
  @ApiOperation({
    operationId: 'completeDeviceSignIn',
    summary: 'Sign in after the user confirmed the device',
    description:
      'Until then the answer is `sign_in_pending`. Add its `retryAfterSeconds` to the interval.',
  })
  @ApiOkResponse({ type: SingleSignInDto })
  @ApiErrors(
    'validation_failed',
    'single_sign_on_off',
    'sign_in_pending',
    'sign_in_refused',
    'email_not_verified',
    'email_taken',
    'account_disabled',
    'no_account',
    'issuer_unavailable',
    'rate_limited',
  )
  completeDevice(
    @Body() { deviceCode }: CompleteDeviceSignInDto,
    @Req() { ip: address, headers }: FastifyRequest,
  ): Promise<SingleSignIn> {
    const origin = { address, userAgent: headers['user-agent'] };
    return this.singleSignOn.completeDevice(deviceCode, origin);
  }
}
