import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { AuditLog } from '#lib/audit';
import type { Config } from '#lib/config';
import {
  API_PREFIX,
  configureHttp,
  createFastifyAdapter,
  type DroverFastifyAdapter,
  setShortIds,
  setupOpenApi,
} from '#lib/http';
import { Database } from '#lib/database';
import { describeEvents } from '#lib/journal';
import { AuthGuard, describeCallers } from '#lib/identity';
import { DroverError, projectVersion } from '#lib/kernel';
import { type Logger, NestLogger, Tracing } from '#lib/observability';
import { AppModule } from './app.module.js';
import { ShortIdsOfTenant } from './short-ids/short-ids-of-tenant.js';
import { serveDashboard } from './dashboard.js';
import { showFrontPage } from './front-page.js';

/** The application, ready to listen. Nothing runs in the background before it listens. */
export async function createApp(config: Config, logger: Logger): Promise<NestFastifyApplication> {
  const { trustedProxies, limits } = config.http;
  const adapter = createFastifyAdapter({ trustedProxies, limits });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(config, logger),
    adapter,
    { logger: new NestLogger(logger), abortOnError: false },
  );
  const fastify = adapter.getInstance<FastifyInstance>();
  const hasApi = config.roles.includes('api');
  if (!hasApi) refuseApi(adapter);
  showFrontPage(fastify, hasApi ? serveDashboard(fastify) : undefined);
  configureHttp(app, {
    guard: app.get(AuthGuard, { strict: false }),
    tracing: app.get(Tracing, { strict: false }),
  });
  setShortIds(fastify, new ShortIdsOfTenant(app.get(Database, { strict: false })));
  app.get(AuditLog, { strict: false }).watch(fastify);
  setupOpenApi(app, {
    version: projectVersion(),
    publicUrl: config.http.publicUrl,
    refine: (document) => {
      describeCallers(document);
      describeEvents(document);
    },
  });
  return app;
}

/** A server without the role `api` answers health checks only. */
function refuseApi(adapter: DroverFastifyAdapter): void {
  const detail = 'This server has not the role api: ask another one.';
  adapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
    // Not by the raw address, because the router decodes it: `/%61pi` is `/api`.
    const route = request.routeOptions.url ?? request.url;
    if (!route.startsWith(`/${API_PREFIX}`) && !route.startsWith('/mcp')) return done();
    adapter.refuse(request, reply, new DroverError('route_not_found', { detail }));
  });
}
