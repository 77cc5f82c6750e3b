import type { CanActivate, ExecutionContext, PipeTransform } from '@nestjs/common';
import {
  CUSTOM_ROUTE_ARGS_METADATA,
  GUARDS_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  ROUTE_ARGS_METADATA,
  RouteParamtypes,
} from '@nestjs/common/internal';
import { ExecutionContextHost } from '@nestjs/core/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DroverError } from '#lib/kernel';
import type { RouteTimes } from '#lib/observability';
import type { ProblemFilter } from './problem/problem.filter.js';
import type { RouteTimer } from './route-timer.js';
import { DtoPipe } from './validation/pipe.js';

export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** What hot routes need of the application; the same guard and filter as on all other routes. */
export interface HotLane {
  guard: CanActivate;
  filter: ProblemFilter;
  controllerOf(type: ControllerType): object;
}

/** Where the routes are added. */
interface HotServer {
  readonly timer: RouteTimer;
  /** Undefined until there is a guard. */
  readonly hotLane: HotLane | undefined;
}

type ControllerType = abstract new (...args: never[]) => object;
type Method = (this: object, ...args: unknown[]) => unknown;

interface HotTarget {
  type: ControllerType;
  name: string;
}

const HOT_ROUTE = Symbol('HOT_ROUTE');

/**
 * For the few routes that run thousands of times a second. Nest walks a request through nine awaits
 * and a dozen objects before a handler sees it, which costs as much as all of Fastify; this route
 * takes the same guard, the same pipes and the same filter in one go, awaiting only what is a
 * promise. It can have no interceptors and no guards of its own, and POST and PATCH only.
 */
export function Hot(): MethodDecorator {
  return (prototype, name, descriptor) => {
    const target: HotTarget = { type: prototype.constructor as ControllerType, name: String(name) };
    Reflect.defineMetadata(HOT_ROUTE, target, descriptor.value as object);
  };
}

/** Replaces the handler of a hot route among the arguments of `adapter.post(path, handler)`. */
export function heat(method: string, args: unknown[], server: HotServer): unknown[] {
  const long = args.at(-1) as RouteHandler;
  const target = Reflect.getMetadata(HOT_ROUTE, long) as HotTarget | undefined;
  if (!target) return args;
  const times = server.timer.hotRoute(method, String(args[0]));
  let short: RouteHandler | undefined;
  const handler: RouteHandler = (request, reply) => {
    const ready = server.hotLane;
    // Without its guard no route may be short: it would be open to all.
    if (!ready) return long(request, reply);
    short ??= compile(target, ready, times);
    return short(request, reply);
  };
  return [...args.slice(0, -1), handler];
}

function compile({ type, name }: HotTarget, lane: HotLane, times: RouteTimes): RouteHandler {
  const controller = lane.controllerOf(type);
  const method = (controller as Record<string, Method>)[name] as Method;
  refuseEnhancers(type, method);
  const readArguments = argumentsReader(type, name);
  const status = (Reflect.getMetadata(HTTP_CODE_METADATA, method) as number | undefined) ?? 201;

  const run = (
    context: ExecutionContext,
    request: FastifyRequest,
    reply: FastifyReply,
  ): unknown => {
    const result = method.apply(controller, readArguments(request, context));
    if (result instanceof Promise) return result.then((body) => answer(reply, status, body));
    return answer(reply, status, result);
  };

  return (request, reply) => {
    const start = performance.now();
    const note = () => times.observe(reply.statusCode, performance.now() - start);
    const fail = (error: unknown) => {
      lane.filter.answer(error, request, reply);
      note();
    };
    try {
      const context = new ExecutionContextHost([request, reply], type as never, method as never);
      const allowed = lane.guard.canActivate(context);
      const result =
        allowed === true
          ? run(context, request, reply)
          : Promise.resolve(allowed as Promise<boolean>).then((yes) => {
              if (!yes) throw new DroverError('forbidden');
              return run(context, request, reply);
            });
      if (result instanceof Promise) result.then(note, fail);
      else note();
    } catch (error) {
      fail(error);
    }
  };
}

function answer(reply: FastifyReply, status: number, body: unknown): void {
  void reply.code(status).send(body);
}

function refuseEnhancers(type: ControllerType, method: Method): void {
  for (const key of [GUARDS_METADATA, INTERCEPTORS_METADATA]) {
    if (Reflect.hasMetadata(key, type) || Reflect.hasMetadata(key, method)) {
      throw new Error(
        `${type.name} has a hot route, which can have no guard or interceptor of its own`,
      );
    }
  }
}

interface ArgumentSpec {
  index: number;
  data?: unknown;
  pipes?: PipeTransform[];
  factory?: (data: unknown, context: ExecutionContext) => unknown;
}

type Reader = (request: FastifyRequest, context: ExecutionContext) => unknown;

/** Reads the same decorators as Nest: @Body(), @Param(), @Query(), and those of our own making. */
function argumentsReader(
  type: ControllerType,
  name: string,
): (request: FastifyRequest, context: ExecutionContext) => unknown[] {
  const specs = Object.entries(
    (Reflect.getMetadata(ROUTE_ARGS_METADATA, type, name) ?? {}) as Record<string, ArgumentSpec>,
  );
  const types = Reflect.getMetadata(
    'design:paramtypes',
    type.prototype as object,
    name,
  ) as unknown[];
  const readers: Reader[] = [];
  for (const [key, spec] of specs) readers[spec.index] = readerOf(key, spec, types[spec.index]);
  return (request, context) => readers.map((read) => read(request, context));
}

const dtoPipe = new DtoPipe();

function readerOf(
  key: string,
  { data, pipes = [], factory }: ArgumentSpec,
  metatype: unknown,
): Reader {
  if (key.includes(CUSTOM_ROUTE_ARGS_METADATA) && factory) {
    return (_, context) => factory(data, context);
  }
  const source = SOURCES[Number(key.split(':')[0])];
  if (!source)
    throw new Error('A hot route takes @Body(), @Param(), @Query() and custom decorators');
  const metadata = { type: source.type, metatype: metatype as never, data: data as string };
  const all = [dtoPipe, ...pipes];
  return (request) => {
    const whole = source.read(request);
    const value =
      data === undefined ? whole : (whole as Record<string, unknown> | undefined)?.[String(data)];
    return all.reduce(
      (current: unknown, pipe) => pipe.transform(current, metadata) as unknown,
      value,
    );
  };
}

const SOURCES: Record<
  number,
  { type: 'body' | 'param' | 'query'; read: (r: FastifyRequest) => unknown }
> = {
  [RouteParamtypes.BODY]: { type: 'body', read: (request) => request.body },
  [RouteParamtypes.PARAM]: { type: 'param', read: (request) => request.params },
  [RouteParamtypes.QUERY]: { type: 'query', read: (request) => request.query },
};
