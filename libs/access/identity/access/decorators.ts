import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiErrors } from '#lib/http';
import type { Caller } from '#lib/kernel';
import type { UserClaims } from '../domain/claims.js';
import { type AuthOptions, describeAccess } from '../domain/access-plan.js';

export const ACCESS_METADATA = 'drover:access';
/** The place of a route's callers in the OpenAPI document. */
export const ACCESS_EXTENSION = 'x-drover-access';

/** The metadata that `@Auth` and `@Public` leave on a route; every route must have one of them. */
export type AccessMetadata =
  { public: true; unlimited: boolean } | { public: false; options: AuthOptions };

/** A user of the installation, where no workspace is concerned. */
export interface Account {
  userId: string;
  /** `external` for tokens of another issuer. */
  sessionId: string;
  isOperator: boolean;
}

/** The guard's result on a request. */
export interface AuthenticatedRequest extends FastifyRequest {
  /** Whoever asks, in a workspace that they may see; also when their rights there are too few. */
  caller?: Caller;
  /** The controller and its method; not of hot routes, which come another way. */
  handledBy?: Pick<ExecutionContext, 'getClass' | 'getHandler'>;
  account?: Account;
  /** What it came with instead of a token. */
  ticket?: { claims: UserClaims; endsAt: number };
}

/**
 * The callers that are allowed: on a controller for all its routes, on a handler for that one, where it
 * replaces the controller's as a whole.
 */
export function Auth(options: AuthOptions = {}): ClassDecorator & MethodDecorator {
  return applyDecorators(
    SetMetadata(ACCESS_METADATA, { public: false, options } satisfies AccessMetadata),
    ApiExtension(ACCESS_EXTENSION, describeAccess(options)),
    ApiErrors('unauthenticated', 'invalid_token', 'token_expired', 'forbidden', 'rate_limited'),
  );
}

/**
 * Anybody may call, with or without credentials, which are not looked at.
 *
 * @param options.unlimited for what probes and gateways ask: not counted by address. Default false.
 */
export function Public({ unlimited = false } = {}): ClassDecorator & MethodDecorator {
  return SetMetadata(ACCESS_METADATA, { public: true, unlimited } satisfies AccessMetadata);
}

/** The caller of a route that acts in a workspace. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  present(requestOf(context).caller, 'caller'),
);

/** The caller of a route with `workspace: false`. */
export const CurrentAccount = createParamDecorator((_: unknown, context: ExecutionContext) =>
  present(requestOf(context).account, 'account'),
);

function requestOf(context: ExecutionContext): AuthenticatedRequest {
  return context.switchToHttp().getRequest<AuthenticatedRequest>();
}

// Reaching this means that a route asks for what its @Auth does not establish.
function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The route's @Auth establishes no ${what}`);
  return value;
}
