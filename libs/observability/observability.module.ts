import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from './logger.js';

/** Provides the one `Logger` everywhere. */
@Module({})
export class ObservabilityModule {
  static forRoot(logger: Logger): DynamicModule {
    return {
      module: ObservabilityModule,
      global: true,
      providers: [{ provide: Logger, useValue: logger }],
      exports: [Logger],
    };
  }
}
