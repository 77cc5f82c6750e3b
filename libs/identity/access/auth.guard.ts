import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { RouteGuard } from '#lib/http';
import { type Caller, DroverError } from '#lib/kernel';
import { type AccessPlan, checkKind, checkRights } from '../domain/access-plan.js';
import type { UserClaims } from '../domain/claims.js';
import { Revocations } from '../tokens/revocations.js';
import { Authenticator, type Principal } from './authenticator.js';
import type { Account, AuthenticatedRequest } from './decorators.js';
import { Memberships } from './memberships.js';
import { requestedWorkspace } from './requested-workspace.js';
import { type Class, type Handler, RoutePlans } from './route-plans.js';

/**
 * Stands before every route. Leaves the caller (or the account) on the request, or refuses. For an
 * agent's or run's token that was seen before it decides at once, from memory.
 */
@Injectable()
export class AuthGuard implements RouteGuard {
  constructor(
    private readonly plans: RoutePlans,
    private readonly authenticator: Authenticator,
    private readonly memberships: Memberships,
    private readonly revocations: Revocations,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const admit = this.forRoute(context.getClass(), context.getHandler() as Handler);
    return admit(context.switchToHttp().getRequest<AuthenticatedRequest>());
  }

  /** The same for the requests of one route. */
  forRoute(
    controller: Class,
    handler: Handler,
  ): (request: AuthenticatedRequest) => true | Promise<true> {
    const plan = this.plans.of(controller, handler);
    return plan === 'public' ? () => true : (request) => this.decide(plan, request);
  }

  private decide(plan: AccessPlan, request: AuthenticatedRequest): true | Promise<true> {
    if (!plan.toleratesOutage && !this.revocations.isCurrent()) {
      throw new DroverError('database_unavailable', { retryAfterSeconds: 5 });
    }
    const principal = this.authenticator.authenticate(request.headers.authorization);
    if (principal instanceof Promise) {
      return principal.then((known) => this.admit(plan, known, request));
    }
    return this.admit(plan, principal, request);
  }

  private admit(
    plan: AccessPlan,
    principal: Principal,
    request: AuthenticatedRequest,
  ): true | Promise<true> {
    checkKind(plan, principal.kind);
    if (principal.kind === 'user') return this.admitUser(plan, principal, request);
    const workspaceId = requestedWorkspace(request);
    if (workspaceId !== undefined && workspaceId !== principal.workspaceId) {
      throw new DroverError('workspace_not_found');
    }
    checkRights(plan, principal);
    request.caller = principal;
    return true;
  }

  private async admitUser(
    plan: AccessPlan,
    claims: UserClaims,
    request: AuthenticatedRequest,
  ): Promise<true> {
    if (!plan.workspace) {
      request.account = await this.accountOf(plan, claims);
      return true;
    }
    const caller = await this.memberOf(claims, requestedWorkspace(request));
    checkRights(plan, caller);
    request.caller = caller;
    return true;
  }

  private async accountOf(plan: AccessPlan, claims: UserClaims): Promise<Account> {
    const { userId, sessionId } = claims;
    const isOperator = await this.memberships.isOperator(userId);
    if (isOperator === undefined) throw new DroverError('token_revoked');
    if (plan.operator && !isOperator) {
      throw new DroverError('forbidden', { detail: 'Only operators of this installation may.' });
    }
    return { userId, sessionId, isOperator };
  }

  private async memberOf(claims: UserClaims, requested: string | undefined): Promise<Caller> {
    const { userId, sessionId } = claims;
    const named = claims.workspaceId ?? requested;
    const workspaceId = named ?? (await this.memberships.onlyWorkspaceOf(userId));
    if (workspaceId === undefined) throw new DroverError('workspace_required');
    if (requested !== undefined && requested !== workspaceId) {
      throw new DroverError('workspace_not_found', { detail: 'The token is for another one.' });
    }
    const role = await this.memberships.roleOf(userId, workspaceId);
    if (role === undefined) throw new DroverError('workspace_not_found');
    return { kind: 'user', workspaceId, userId, sessionId, role };
  }
}
