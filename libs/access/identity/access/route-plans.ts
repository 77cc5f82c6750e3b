import { Injectable, type OnModuleInit, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { operationOf } from '#lib/http';
import { type AccessPlan, planAccess } from '../domain/access-plan.js';
import { ACCESS_METADATA, type AccessMetadata } from './decorators.js';

export type Class = abstract new (...args: never[]) => unknown;
export type Handler = (...args: never[]) => unknown;

/** A route's plan, or that anybody can call it, with or without a rate limit. */
export type RoutePlan = AccessPlan | 'public' | 'unlimited';

/**
 * The access plan of every route, read once. A stranger would otherwise find a route that nobody
 * has decided about, so the application refuses to start with one.
 */
@Injectable()
export class RoutePlans implements OnModuleInit {
  private readonly plans = new Map<Class, Map<Handler, RoutePlan>>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /**
   * @throws Error that names every route without @Auth or @Public, or with contradictory ones
   */
  onModuleInit(): void {
    const mistakes: string[] = [];
    for (const { instance, metatype } of this.discovery.getControllers()) {
      if (!instance || !metatype) continue;
      for (const { name, handler } of this.routesOf(instance as object)) {
        try {
          this.of(metatype as Class, handler);
        } catch (error) {
          mistakes.push(`  ${metatype.name}.${name} ${(error as Error).message}`);
        }
      }
    }
    if (mistakes.length > 0) {
      throw new Error(`These routes do not say who may call them:\n${mistakes.join('\n')}`);
    }
  }

  of(controller: Class, handler: Handler): RoutePlan {
    const known = this.plans.get(controller)?.get(handler);
    if (known !== undefined) return known;
    const plan = readPlan(controller, handler);
    const ofController = this.plans.get(controller) ?? new Map<Handler, RoutePlan>();
    this.plans.set(controller, ofController.set(handler, plan));
    return plan;
  }

  private routesOf(instance: object): { name: string; handler: Handler }[] {
    const prototype = Object.getPrototypeOf(instance) as Record<string, Handler>;
    return this.scanner
      .getAllMethodNames(prototype)
      .map((name) => ({ name, handler: prototype[name] as Handler }))
      .filter(({ handler }) => isRoute(handler));
  }
}

function isRoute(handler: Handler): boolean {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  return method !== undefined && Reflect.hasMetadata(PATH_METADATA, handler);
}

function readPlan(controller: Class, handler: Handler): RoutePlan {
  const metadata = (Reflect.getMetadata(ACCESS_METADATA, handler) ??
    Reflect.getMetadata(ACCESS_METADATA, controller)) as AccessMetadata | undefined;
  if (metadata === undefined) throw new Error('has neither @Auth nor @Public');
  if (!metadata.public) return planAccess(metadata.options, operationOf(controller, handler));
  return metadata.unlimited ? 'unlimited' : 'public';
}
