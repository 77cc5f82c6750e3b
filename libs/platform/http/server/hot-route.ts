import { applyDecorators, type CanActivate, HttpCode, SetMetadata } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants.js';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiParam } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, DroverError } from '#lib/kernel';
import type { RouteTimes } from '#lib/observability';
import type { IdempotencyRecord } from '../idempotency/answers.js';
import { isIdempotent } from '../idempotency/idempotency.interceptor.js';
import type { IdempotentRequest, IdempotentRequests } from '../idempotency/requests.js';
import { ApiErrors } from '../openapi/api-errors.js';
import { requireUuid } from '../parameters/params.js';
import { prefersMinimal } from '../parameters/prefer.js';
import type { ProblemFilter } from '../problem/problem.filter.js';
import { traceparentOfRequest } from './trace-requests.js';
import { readDto } from '../validation/pipe.js';
import type { DtoClass } from '../validation/plan.js';
import { isVersioned, setEtagOf } from '../answers/etag.interceptor.js';

type Controller = abstract new (...args: never[]) => object;
type Admission = (request: FastifyRequest, reply: FastifyReply) => boolean | Promise<boolean>;

/** The argument of a hot route's method. */
export interface HotCall<Body> {
  caller: Caller;
  /** The path's parameter in lower case. */
  id: string;
  body: Body;
  /** The record of a request with an Idempotency-Key, if the route is `@Idempotent()`. */
  idempotency: IdempotencyRecord | undefined;
  reply: FastifyReply;
  /** The traceparent of the request's span, if it is traced. */
  traceparent: string | undefined;
  /** True if the client sent `Prefer: return=minimal`, which a route with `@Prefer()` follows. */
  minimal: boolean;
}

export type HotMethod<Body> = (call: HotCall<Body>) => unknown;

interface HotOptions<Body> {
  body: new () => Body;
  /** The path's parameter, a UUID. Default: none. */
  param?: string;
  /** The status of a successful answer. Default: 201. */
  status?: number;
}

interface HotRoute extends HotOptions<object> {
  controller: Controller;
  method: string;
}

/** The guard of all routes, with its decision about one route. */
export interface RouteGuard extends CanActivate {
  forRoute(controller: Controller, method: (...args: never[]) => unknown): Admission;
}

/** The parts of the application that hot routes need: the guard and filter of all other routes. */
export interface HotLane {
  guard: RouteGuard;
  filter: ProblemFilter;
  idempotentRequests(): IdempotentRequests;
  controllerOf(type: Controller): object;
}

const HOT_ROUTE = Symbol('HOT_ROUTE');
const CONFIG = { hot: true } as const;

/**
 * For the few POST routes that run thousands of times a second. Nest passes a request through nine
 * awaits and a dozen objects before a method sees it, which costs as much as all of Fastify. This
 * route is a plain Fastify handler with the same guard, validation and problem filter. It supports
 * `@Versioned()` and `@Idempotent()`, and no other interceptor, guard or parameter decorator.
 */
export function Hot<Body extends object>(options: HotOptions<Body>) {
  const { body, param, status = 201 } = options;
  const documented = [
    HttpCode(status),
    ApiBody({ type: body }),
    ApiErrors('validation_failed'),
    ...(param === undefined ? [] : [ApiParam({ name: param, type: String, format: 'uuid' })]),
  ];
  return <Method extends HotMethod<Body>>(
    prototype: object,
    name: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    const route = { ...options, controller: prototype.constructor as Controller, method: name };
    applyDecorators(SetMetadata(HOT_ROUTE, route), ...documented)(prototype, name, descriptor);
  };
}

/** The route that `@Hot()` described on the handler that Nest made of a method. */
export function hotRouteOf(handler: object): HotRoute | undefined {
  return Reflect.getMetadata(HOT_ROUTE, handler) as HotRoute | undefined;
}

/** Whether the route of this configuration is a hot one. */
export function isHotRoute(config: object | undefined): boolean {
  return config !== undefined && 'hot' in config && config.hot === true;
}

/** The handler for Fastify. */
export function hotHandler(route: HotRoute, lane: HotLane, times: RouteTimes) {
  const { param, status = 201 } = route;
  const controller = lane.controllerOf(route.controller) as Record<string, HotMethod<object>>;
  const method = controller[route.method] as HotMethod<object>;
  refuseGuards(route.controller, method);
  const admit = lane.guard.forRoute(route.controller, method);
  const idempotent = isIdempotent(method) ? lane.idempotentRequests() : undefined;
  const versioned = isVersioned(method);

  const call = (request: IdempotentRequest, reply: FastifyReply) => {
    const id = param ? requireUuid(param, (request.params as Record<string, unknown>)[param]) : '';
    const callWith = (body: object) =>
      method.call(controller, {
        caller: request.caller as Caller,
        id,
        body,
        idempotency: request.idempotency,
        reply,
        traceparent: traceparentOfRequest(request),
        minimal: prefersMinimal(request.headers),
      });
    const body = readDto(request, route.body as DtoClass, request.body);
    return body instanceof Promise ? body.then(callWith) : callWith(body);
  };

  const run = (admitted: boolean, request: FastifyRequest, reply: FastifyReply) => {
    if (!admitted) throw new DroverError('forbidden');
    void reply.code(status);
    if (!idempotent?.concerns(request)) return call(request, reply);
    return idempotent.run(request, reply, async () => call(request, reply));
  };

  const handle = (request: FastifyRequest, reply: FastifyReply): void => {
    const start = performance.now();
    const note = () => times.observe(reply.statusCode, performance.now() - start);
    const send = (answer: unknown) => {
      if (versioned) setEtagOf(answer, reply);
      void reply.send(answer);
      note();
    };
    const fail = (error: unknown) => {
      lane.filter.answer(error, request, reply);
      note();
    };
    try {
      const admitted = admit(request, reply);
      const answer =
        admitted instanceof Promise
          ? admitted.then((yes) => run(yes, request, reply))
          : run(admitted, request, reply);
      if (answer instanceof Promise) answer.then(send).catch(fail);
      else send(answer);
    } catch (error) {
      fail(error);
    }
  };
  RouteConfig(CONFIG)(handle as never);
  return handle;
}

function refuseGuards(controller: Controller, method: object): void {
  if (![controller, method].some((target) => Reflect.hasMetadata(GUARDS_METADATA, target))) return;
  throw new Error(`${controller.name} has a hot route, which can have no guard of its own`);
}
