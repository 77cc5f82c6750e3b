import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { Logger } from '#lib/observability';
import { ApiKeyVerifier } from './access/api-key-verifier.js';
import { AuthGuard } from './access/auth.guard.js';
import { Authenticator } from './access/authenticator.js';
import { Memberships } from './access/memberships.js';
import { RoutePlans } from './access/route-plans.js';
import { AccountService } from './auth/account.service.js';
import { AuthService } from './auth/auth.service.js';
import { Credentials } from './auth/credentials.js';
import { Sessions } from './auth/sessions.js';
import { AuthController } from './http/auth.controller.js';
import { UsersController } from './http/users.controller.js';
import { Passwords } from './passwords/passwords.js';
import { Attempts } from './rate-limit/attempts.js';
import { createRateLimiter } from './rate-limit/create-rate-limiter.js';
import { RATE_LIMITER, SHARED_RATE_LIMITER } from './rate-limit/rate-limiter.js';
import { RefreshTokens } from './tokens/refresh-tokens.js';
import { Revocations } from './tokens/revocations.js';
import { TokenService } from './tokens/token.service.js';
import { UsersService } from './users/users.service.js';

/** Who asks, and what they may do. Puts its guard before every route of the application. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [AuthController, UsersController],
  providers: [
    {
      provide: RATE_LIMITER,
      useFactory: createRateLimiter,
      inject: [Logger, { token: SHARED_RATE_LIMITER, optional: true }],
    },
    TokenService,
    Revocations,
    Memberships,
    ApiKeyVerifier,
    Authenticator,
    RoutePlans,
    AuthGuard,
    RefreshTokens,
    Passwords,
    Attempts,
    Sessions,
    Credentials,
    AuthService,
    AccountService,
    UsersService,
    { provide: APP_GUARD, useExisting: AuthGuard },
  ],
  exports: [AuthGuard, TokenService, Revocations],
})
export class IdentityModule {}
