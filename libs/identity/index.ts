export { AuthGuard } from './access/auth.guard.js';
export {
  type Account,
  Auth,
  type AuthenticatedRequest,
  CurrentAccount,
  CurrentCaller,
  Public,
} from './access/decorators.js';
export { Memberships } from './access/memberships.js';
export { describeCallers } from './access/openapi.js';
export { pruneSessions } from './auth/prune-sessions.js';
export type { AuthOptions } from './domain/access-plan.js';
export { isAtLeast, MEMBER_ROLES } from './domain/roles.js';
export { SCOPES, type Scope } from './domain/scopes.js';
export { IdentityModule } from './identity.module.js';
export {
  type Revocation,
  REVOCATION_BUS,
  type RevocationBus,
  Revocations,
} from './tokens/revocations.js';
export { type IssuedToken, TokenService } from './tokens/token.service.js';
export {
  ensureFirstAdministrator,
  type FirstAdministrator,
  type FirstAdministratorOptions,
} from './users/first-administrator.js';
