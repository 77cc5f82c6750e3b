import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { ApiKeyVerifier } from './access/api-key-verifier.js';
import { AuthGuard } from './access/auth.guard.js';
import { Authenticator } from './access/authenticator.js';
import { Memberships } from './access/memberships.js';
import { RoutePlans } from './access/route-plans.js';
import { Revocations } from './tokens/revocations.js';
import { TokenService } from './tokens/token.service.js';

/** Who asks, and what they may do. Puts its guard before every route of the application. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    TokenService,
    Revocations,
    Memberships,
    ApiKeyVerifier,
    Authenticator,
    RoutePlans,
    AuthGuard,
    { provide: APP_GUARD, useExisting: AuthGuard },
  ],
  exports: [TokenService, Revocations],
})
export class IdentityModule {}
