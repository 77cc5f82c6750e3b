import { type DynamicModule, Module } from '@nestjs/common';
import { AdmissionModule } from '#lib/admission';
import { AgentManagerModule } from '#lib/agent-manager';
import { type Config, ConfigModule } from '#lib/config';
import { CoordinatorModule } from '#lib/coordinator';
import { DatabaseModule } from '#lib/database';
import { IdentityModule } from '#lib/identity';
import { type Logger, ObservabilityModule } from '#lib/observability';
import { OutboxModule } from '#lib/outbox';
import { ProjectsModule } from '#lib/projects';
import { SealingModule } from '#lib/sealing';
import { TaskManagerModule } from '#lib/task-manager';
import { ValkeyModule } from '#lib/valkey';
import { databaseOptions, valkeyOptions } from './connections.js';
import { HealthModule } from './health/health.module.js';
import { MetricsModule } from './metrics/metrics.module.js';

/** Everything the server is made of. */
@Module({})
export class AppModule {
  static forRoot(config: Config, logger: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        ObservabilityModule.forRoot(logger),
        DatabaseModule.forRoot(databaseOptions(config, logger)),
        ValkeyModule.forRoot(valkeyOptions(config, logger)),
        SealingModule,
        IdentityModule,
        ProjectsModule,
        OutboxModule,
        AdmissionModule,
        AgentManagerModule,
        TaskManagerModule,
        CoordinatorModule,
        HealthModule,
        MetricsModule,
      ],
    };
  }
}
