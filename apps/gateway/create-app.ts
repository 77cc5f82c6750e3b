import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { configureHttp, createFastifyAdapter } from '#lib/http';
import { type Logger, NestLogger } from '#lib/observability';
import { authenticateServer } from './auth/authenticate.js';
import type { Gateway } from './gateway.js';
import { GatewayModule } from './gateway.module.js';

/** A task's input and its checkpoint come together, each as large as the server accepts. */
const BODY_LIMIT = 8 * 1024 * 1024;
/** The server accepts 64 levels. Here its content is deeper by the levels of `context`. */
const MAX_JSON_DEPTH = 72;

/** The gateway's HTTP interface, ready to listen. */
export async function createApp(gateway: Gateway, logger: Logger): Promise<NestFastifyApplication> {
  const adapter = createFastifyAdapter({ bodyLimit: BODY_LIMIT, maxJsonDepth: MAX_JSON_DEPTH });
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(gateway, logger),
    adapter,
    { logger: new NestLogger(logger), abortOnError: false },
  );
  authenticateServer(adapter.getInstance<FastifyInstance>(), gateway.tokens);
  configureHttp(app, { prefix: 'api' });
  return app;
}
