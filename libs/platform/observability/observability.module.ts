import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from './logging/logger.js';
import { Tracing } from './tracing/tracing.js';

export interface ObservabilityOptions {
  logger: Logger;
  /** Address for spans. Undefined means that no spans are sent. */
  tracesTo?: string | undefined;
  /** Name of this server in spans. */
  instanceId?: string | undefined;
}

/** Provides the one `Logger` everywhere, and `Tracing`. */
@Module({})
export class ObservabilityModule {
  static forRoot({ logger, tracesTo, instanceId }: ObservabilityOptions): DynamicModule {
    const attributes = instanceId === undefined ? {} : { 'service.instance.id': instanceId };
    return {
      module: ObservabilityModule,
      global: true,
      providers: [
        { provide: Logger, useValue: logger },
        { provide: Tracing, useFactory: () => Tracing.start(tracesTo, attributes) },
      ],
      exports: [Logger, Tracing],
    };
  }
}
