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
/** The extension for a route's callers in the OpenAPI document. */
export const ACCESS_EXTENSION = 'x-drover-access';

/** The metadata of `@Auth` and `@Public`. Every route must have one of them. */
export type AccessMetadata =
  | { public: true; unlimited: boolean }
  | { public: false; options: AuthOptions };

/** A user of the installation, for routes without a workspace. */
export interface Account {
  userId: string;
  /** `external` for tokens of another issuer. */
  sessionId: string;
  isOperator: boolean;
}

/** The guard's result on a request. */
export interface AuthenticatedRequest extends FastifyRequest {
  /** The caller in a visible workspace, also if the permissions there do not suffice. */
  caller?: Caller;
  /** The controller and its method. Absent for hot routes, which take another way. */
  handledBy?: { getClass: () => { name: string }; getHandler: () => { name: string } };
  account?: Account;
  /** The ticket, if the request has one instead of a token. */
  ticket?: { claims: UserClaims; endsAt: number };
}

/**
 * The allowed callers: on a controller for all its routes, on a handler for that route, where it
 * replaces the controller's completely.
 */
export function Auth(options: AuthOptions = {}): ClassDecorator & MethodDecorator {
  return applyDecorators(
    SetMetadata(ACCESS_METADATA, { public: false, options } satisfies AccessMetadata),
    ApiExtension(ACCESS_EXTENSION, describeAccess(options)),
    ApiErrors('unauthenticated', 'invalid_token', 'token_expired', 'forbidden', 'rate_limited'),
  );
}

/**
 * Anybody can call, with or without credentials, which are ignored.
 *
 * @param options.unlimited for probes and gateways: not counted by address. Default: false.
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

// Reaching this means that a route needs a value that its @Auth does not provide.
function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`The route's @Auth establishes no ${what}`);
  return value;
}
