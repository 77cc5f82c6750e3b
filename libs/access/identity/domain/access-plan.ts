import {
  allowsOperation,
  DroverError,
  type Caller,
  type MemberRole,
  type TokenCaller,
} from '#lib/kernel';
import { isAtLeast } from './roles.js';
import { covers, type Scope } from './scopes.js';

/** Kinds of credentials. */
export type CallerKind = TokenCaller['kind'];

/** The callers that a route accepts. */
export interface AuthOptions {
  /** Accepted kinds of credentials. Default: users and API keys. */
  kinds?: readonly CallerKind[];
  /** Minimum role of a user or API key in the workspace. Default: VIEWER. */
  role?: MemberRole;
  /**
   * The scope that an API key needs, or `any` for every key. A route that accepts API keys must
   * name one.
   */
  scope?: Scope | 'any';
  /**
   * Whether the route acts in a workspace. Default: true. Without one it accepts only users, the
   * request has no caller, and `@CurrentAccount()` gives the user.
   */
  workspace?: boolean;
  /** Only operators of the installation. Default: false. */
  operator?: boolean;
  /**
   * Whether the route is served although this server could not read the list of revoked tokens for
   * half a minute. Default: false. For routes that must work while Postgres is down.
   */
  toleratesOutage?: boolean;
  /**
   * Whether an agent's requests to the route are counted separately from its others. Default:
   * false. For heartbeats.
   */
  heartbeat?: boolean;
  /**
   * Whether a user can send a ticket in the query (`?ticket=`) instead of a token in the header,
   * which browsers cannot send with a stream. Default: false.
   */
  ticket?: boolean;
}

export interface AccessPlan extends Required<Omit<AuthOptions, 'scope'>> {
  scope: Scope | 'any' | undefined;
  /** The id of the route's operation. */
  operation: string;
}

/**
 * @throws Error if the options contradict each other; a start-up check reports it
 */
export function planAccess(options: AuthOptions, operation = ''): AccessPlan {
  const workspace = options.workspace ?? true;
  const plan: AccessPlan = {
    kinds: kindsOf(options),
    role: options.role ?? 'VIEWER',
    scope: options.scope,
    workspace,
    operator: options.operator ?? false,
    toleratesOutage: options.toleratesOutage ?? false,
    heartbeat: options.heartbeat ?? false,
    ticket: options.ticket ?? false,
    operation,
  };
  if (plan.kinds.includes('api_key') && plan.scope === undefined) {
    throw new Error('accepts API keys but names no scope: add `scope`, or `kinds` without api_key');
  }
  if (!workspace && plan.kinds.some((kind) => kind !== 'user')) {
    throw new Error('has no workspace, so only users can call it');
  }
  if (workspace && plan.operator) {
    throw new Error('is for operators, who act in no workspace: add `workspace: false`');
  }
  return plan;
}

function kindsOf({ kinds, workspace = true }: AuthOptions): readonly CallerKind[] {
  return kinds ?? (workspace ? ['user', 'api_key'] : ['user']);
}

/** A route's access in the OpenAPI document: its callers and their tokens. */
export interface DescribedAccess {
  kinds: readonly CallerKind[];
  /** Minimum role of a user or API key. Absent if the route acts in no workspace. */
  role?: MemberRole;
  /** The scope that an API key needs. Absent if every key is accepted. */
  scope?: Scope;
  /** Only operators of the installation. */
  operator?: true;
}

export function describeAccess(options: AuthOptions): DescribedAccess {
  const { workspace = true, role = 'VIEWER', scope, operator = false } = options;
  const kinds = kindsOf(options);
  const hasRole = workspace && (kinds.includes('user') || kinds.includes('api_key'));
  return {
    kinds,
    ...(hasRole ? { role } : {}),
    ...(scope !== undefined && scope !== 'any' && kinds.includes('api_key') ? { scope } : {}),
    ...(operator ? { operator } : {}),
  };
}

const aKind = (kind: CallerKind): string =>
  kind === 'api_key' ? 'an API key' : `${kind === 'agent' ? 'an' : 'a'} ${kind}`;

/** @throws DroverError `wrong_token_kind` */
export function checkKind(plan: AccessPlan, kind: CallerKind): void {
  if (plan.kinds.includes(kind)) return;
  throw new DroverError('wrong_token_kind', {
    detail: `This needs the token of ${plan.kinds.map(aKind).join(' or ')}, not that of ${aKind(kind)}.`,
  });
}

/** @throws DroverError `forbidden` or `insufficient_scope` */
export function checkRights(plan: AccessPlan, caller: Caller): void {
  if (caller.kind === 'run' && caller.operations !== undefined) {
    checkOperation(plan, caller.operations);
  }
  if (caller.kind === 'api_key' && !hasScope(plan, caller.scopes)) {
    throw new DroverError('insufficient_scope', { detail: `The key needs ${plan.scope}.` });
  }
  if ((caller.kind === 'user' || caller.kind === 'api_key') && !isAtLeast(caller.role, plan.role)) {
    throw new DroverError('forbidden', {
      detail: `This needs the role ${plan.role}; yours is ${caller.role}.`,
    });
  }
}

/** @throws DroverError `forbidden` if the rules of the run's task deny the operation */
function checkOperation({ operation }: AccessPlan, rules: readonly string[]): void {
  if (allowsOperation(rules, operation)) return;
  throw new DroverError('forbidden', {
    detail: `The rules of the task do not allow the operation ${operation}.`,
  });
}

function hasScope(plan: AccessPlan, held: readonly string[]): boolean {
  if (plan.scope === undefined) return false;
  return plan.scope === 'any' || covers(held, plan.scope);
}
