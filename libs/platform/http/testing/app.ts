import { type CanActivate, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger, ObservabilityModule } from '#lib/observability';
import { createFastifyAdapter } from '../server/adapter.js';
import { configureHttp, type HttpOptions } from '../server/configure.js';

export interface TestServer {
  url: string;
  /** The log's lines, parsed. */
  lines: Record<string, unknown>[];
  close(): Promise<void>;
}

/** A small application with Drover's conventions on a free port. */
export async function startTestServer(
  controllers: Type[],
  metadata: ModuleMetadata = {},
  options: HttpOptions = {},
  guards: CanActivate[] = [],
): Promise<TestServer> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const logger = Logger.create({ level: 'debug', destination: { write } });

  @Module({
    ...metadata,
    imports: [ObservabilityModule.forRoot({ logger }), ...(metadata.imports ?? [])],
    controllers,
  })
  class TestModule {}

  const app = await NestFactory.create<NestFastifyApplication>(TestModule, createFastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
  configureHttp(app, options);
  app.useGlobalGuards(...guards, ...(options.guard ? [options.guard] : []));
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), lines, close: () => app.close() };
}
