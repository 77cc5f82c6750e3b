import { type DynamicModule, Module } from '@nestjs/common';
import { type Logger, ObservabilityModule } from '#lib/observability';
import { Gateway } from './gateway.js';
import { AgentsController } from './http/agents.controller.js';
import { HealthController } from './http/health.controller.js';
import { MetricsController } from './http/metrics.controller.js';
import { SessionsController } from './http/sessions.controller.js';
import { SessionsService } from './sessions/sessions.service.js';

@Module({})
export class GatewayModule {
  static forRoot(gateway: Gateway, logger: Logger): DynamicModule {
    return {
      module: GatewayModule,
      imports: [ObservabilityModule.forRoot({ logger })],
      controllers: [AgentsController, SessionsController, HealthController, MetricsController],
      providers: [
        { provide: Gateway, useValue: gateway },
        { provide: SessionsService, useValue: gateway.sessions },
      ],
    };
  }
}
