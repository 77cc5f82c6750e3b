import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RouteGuard } from '#lib/http';
import { type Caller, DroverError } from '#lib/kernel';
import { type AccessPlan, checkKind, checkRights } from '../domain/access-plan.js';
import type { UserClaims } from '../domain/claims.js';
import { RequestLimits } from '../rate-limit/request-limits.js';
import { Revocations } from '../tokens/revocations.js';
import { Authenticator, type Principal } from './authenticator.js';
import type { Account, AuthenticatedRequest } from './decorators.js';
import { Memberships } from './memberships.js';
import { requestedWorkspace } from './requested-workspace.js';
import { type Class, type Handler, RoutePlans } from './route-plans.js';

type Admission = (request: AuthenticatedRequest, reply: FastifyReply) => true | Promise<true>;

/**
 * The guard of every route. Puts the caller (or the account) on the request, or refuses. It decides
 * at once, from memory, for an agent or run token that it has seen before.
 */
@Injectable()
export class AuthGuard implements RouteGuard {
  constructor(
    private readonly plans: RoutePlans,
    private readonly authenticator: Authenticator,
    private readonly memberships: Memberships,
    private readonly revocations: Revocations,
    private readonly limits: RequestLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const admit = this.forRoute(context.getClass(), context.getHandler() as Handler);
    const http = context.switchToHttp();
    return admit(http.getRequest<AuthenticatedRequest>(), http.getResponse<FastifyReply>());
  }

  /** The same for the requests of one route. */
  forRoute(controller: Class, handler: Handler): Admission {
    const plan = this.plans.of(controller, handler);
    const handledBy = { getClass: () => controller, getHandler: () => handler };
    return (request, reply) => {
      request.handledBy = handledBy;
      if (typeof plan !== 'string') return this.decide(plan, request, reply);
      if (plan === 'public') this.limits.takeAddress(request.ip, reply);
      return true;
    };
  }

  private decide(
    plan: AccessPlan,
    request: AuthenticatedRequest,
    reply: FastifyReply,
  ): true | Promise<true> {
    if (!plan.toleratesOutage && !this.revocations.isCurrent()) {
      throw new DroverError('database_unavailable', { retryAfterSeconds: 5 });
    }
    const principal = this.identify(plan, request, reply);
    if (principal instanceof Promise) {
      return principal.then((known) => this.admit(plan, known, request, reply));
    }
    return this.admit(plan, principal, request, reply);
  }

  private identify(
    plan: AccessPlan,
    request: AuthenticatedRequest,
    reply: FastifyReply,
  ): Principal | Promise<Principal> {
    const { authorization } = request.headers;
    const ticket = authorization === undefined && plan.ticket ? ticketOf(request) : undefined;
    try {
      const principal =
        ticket === undefined
          ? this.authenticator.authenticate(authorization)
          : this.admitTicket(ticket, request);
      if (!(principal instanceof Promise)) return principal;
      return principal.catch((error: unknown) => this.refuse(error, request, reply));
    } catch (error) {
      return this.refuse(error, request, reply);
    }
  }

  private async admitTicket(ticket: string, request: AuthenticatedRequest): Promise<Principal> {
    request.ticket = await this.authenticator.authenticateTicket(ticket);
    return request.ticket.claims;
  }

  /** Refused credentials belong to nobody and count against the address. */
  private refuse(error: unknown, { ip }: FastifyRequest, reply: FastifyReply): never {
    const isOfCredentials = error instanceof DroverError && error.spec.status === 401;
    if (isOfCredentials) this.limits.takeAddress(ip, reply);
    throw error;
  }

  private admit(
    plan: AccessPlan,
    principal: Principal,
    request: AuthenticatedRequest,
    reply: FastifyReply,
  ): true | Promise<true> {
    this.limits.takeToken(principal, reply, plan);
    checkKind(plan, principal.kind);
    if (principal.kind === 'user') return this.admitUser(plan, principal, request, reply);
    const { workspaceId } = principal;
    if (principal.kind === 'api_key') this.limits.takeWorkspace(workspaceId, reply);
    const requested = requestedWorkspace(request);
    if (requested !== undefined && requested !== workspaceId) {
      throw new DroverError('workspace_not_found');
    }
    // Set before permissions are checked, because the log also names refused callers.
    request.caller = principal;
    checkRights(plan, principal);
    return true;
  }

  private async admitUser(
    plan: AccessPlan,
    claims: UserClaims,
    request: AuthenticatedRequest,
    reply: FastifyReply,
  ): Promise<true> {
    if (!plan.workspace) {
      request.account = await this.accountOf(claims);
      if (plan.operator) await this.requireOperator(request.account);
      return true;
    }
    const caller = await this.memberOf(claims, requestedWorkspace(request));
    this.limits.takeWorkspace(caller.workspaceId, reply);
    request.caller = caller;
    checkRights(plan, caller);
    return true;
  }

  /**
   * After the account is set, because the log also names refused callers.
   *
   * @throws DroverError `forbidden` or `second_factor_missing`
   */
  private async requireOperator({ userId, isOperator }: Account): Promise<void> {
    if (isOperator) return;
    if (await this.memberships.lacksFactor(userId)) throw new DroverError('second_factor_missing');
    throw new DroverError('forbidden', { detail: 'Only operators of this installation may.' });
  }

  private async accountOf(claims: UserClaims): Promise<Account> {
    const { userId, sessionId } = claims;
    const isOperator = await this.memberships.isOperator(userId);
    if (isOperator === undefined) throw new DroverError('token_revoked');
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

function ticketOf({ query }: FastifyRequest): string | undefined {
  const { ticket } = query as { ticket?: unknown };
  return typeof ticket === 'string' ? ticket : undefined;
}
