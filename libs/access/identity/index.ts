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
export { type Standing, Standings } from './access/standings.js';
export { ShortMemory } from './access/short-memory.js';
export { pruneSessions } from './auth/prune-sessions.js';
export { resealFactors } from './auth/reseal-factors.js';
export { type CallerView, viewOfCaller } from './domain/caller-view.js';
export { isAtLeast } from './domain/roles.js';
export { covers, type Scope, SCOPES } from './domain/scopes.js';
export { IdentityModule } from './identity.module.js';
export { keyOfFactor, masterKeysOfFactors } from './store/second-factors.sql.js';
export { endingApiKeys, isEndedKey, isEndingKey } from './store/ending-api-keys.sql.js';
export { addressGroup } from './rate-limit/attempts.js';
export { IssuedTokens } from './tokens/issued-tokens.js';
export { Revocations } from './tokens/revocations.js';
export { TokenService } from './tokens/token.service.js';
export { ensureFirstAdministrator } from './users/first-administrator.js';
export {
  type InvitationMail,
  type InvitationMailer,
  InvitationMails,
} from './workspaces/invitation-mails.js';
export { type HookOwner, lockHookCreator, MemberHooks } from './workspaces/member-hooks.js';
