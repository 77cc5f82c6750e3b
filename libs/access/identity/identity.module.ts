import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { ApiKeysService } from './api-keys/api-keys.service.js';
import { ApiKeyVerifier } from './access/api-key-verifier.js';
import { AuthGuard } from './access/auth.guard.js';
import { Authenticator } from './access/authenticator.js';
import { Memberships } from './access/memberships.js';
import { Standings } from './access/standings.js';
import { RoutePlans } from './access/route-plans.js';
import { AccountService } from './auth/account.service.js';
import { AuthService } from './auth/auth.service.js';
import { Credentials } from './auth/credentials.js';
import { FactorKeys } from './auth/factor-keys.js';
import { SecondFactors } from './auth/second-factors.js';
import { Sessions } from './auth/sessions.js';
import { AgentTokensController } from './http/agent-tokens.controller.js';
import { ApiKeysController } from './http/api-keys.controller.js';
import { AuthController } from './http/auth.controller.js';
import { InvitationLinksController } from './http/invitation-links.controller.js';
import { InvitationsController } from './http/invitations.controller.js';
import { OwnInvitationsController } from './http/own-invitations.controller.js';
import { MembersController } from './http/members.controller.js';
import { SecondFactorController } from './http/second-factor.controller.js';
import { SingleSignOnController } from './http/single-sign-on.controller.js';
import { UserSecondFactorController } from './http/user-second-factor.controller.js';
import { UsersController } from './http/users.controller.js';
import { WorkspacesController } from './http/workspaces.controller.js';
import { ExternalIdentities } from './oidc/external-identities.js';
import { ExternalUsers } from './oidc/external-users.js';
import { Provider } from './oidc/provider.js';
import { SingleSignOn } from './oidc/single-sign-on.js';
import { Passwords } from './passwords/passwords.js';
import { Attempts } from './rate-limit/attempts.js';
import { RequestLimits } from './rate-limit/request-limits.js';
import { IssuedTokens } from './tokens/issued-tokens.js';
import { RefreshTokens } from './tokens/refresh-tokens.js';
import { Revocations } from './tokens/revocations.js';
import { TokenService } from './tokens/token.service.js';
import { SignUpService } from './users/sign-up.service.js';
import { UsersService } from './users/users.service.js';
import { VALKEY_PROVIDERS } from './valkey/valkey.providers.js';
import { GroupMembers } from './workspaces/group-members.js';
import { InvitationLinks } from './workspaces/invitation-links.js';
import { InvitationMails } from './workspaces/invitation-mails.js';
import { InvitationsService } from './workspaces/invitations.service.js';
import { MemberHooks } from './workspaces/member-hooks.js';
import { MembersService } from './workspaces/members.service.js';
import { WorkspacesService } from './workspaces/workspaces.service.js';

/** Callers and their permissions. Puts its guard before every route of the application. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [
    AuthController,
    SingleSignOnController,
    SecondFactorController,
    UserSecondFactorController,
    UsersController,
    WorkspacesController,
    MembersController,
    InvitationLinksController,
    InvitationsController,
    OwnInvitationsController,
    ApiKeysController,
    AgentTokensController,
  ],
  providers: [
    ...VALKEY_PROVIDERS,
    TokenService,
    Revocations,
    IssuedTokens,
    Memberships,
    ApiKeyVerifier,
    ExternalIdentities,
    ExternalUsers,
    Provider,
    SingleSignOn,
    Authenticator,
    RoutePlans,
    Standings,
    AuthGuard,
    RefreshTokens,
    Passwords,
    Attempts,
    RequestLimits,
    Sessions,
    Credentials,
    FactorKeys,
    SecondFactors,
    AuthService,
    AccountService,
    UsersService,
    SignUpService,
    WorkspacesService,
    MembersService,
    GroupMembers,
    MemberHooks,
    InvitationMails,
    InvitationsService,
    InvitationLinks,
    ApiKeysService,
    { provide: APP_GUARD, useExisting: AuthGuard },
  ],
  exports: [
    AuthGuard,
    Standings,
    TokenService,
    IssuedTokens,
    Revocations,
    Memberships,
    MemberHooks,
    InvitationMails,
  ],
})
export class IdentityModule {}
