import { type DynamicModule, Module } from '@nestjs/common';
import { AdmissionModule } from '#lib/admission';
import { AgentManagerModule } from '#lib/agent-manager';
import { ArtifactsModule } from '#lib/artifacts';
import { AuditModule } from '#lib/audit';
import { type Config, ConfigModule } from '#lib/config';
import { CoordinatorModule } from '#lib/coordinator';
import { DatabaseModule } from '#lib/database';
import { IdentityModule } from '#lib/identity';
import { type Logger, ObservabilityModule } from '#lib/observability';
import { EventsModule } from '#lib/journal';
import { InboundHooksModule } from '#lib/inbound-hooks';
import { HostCredentialsModule } from '#lib/host-credentials';
import { ChangesModule } from '#lib/changes';
import { RepositoriesModule } from '#lib/repositories';
import { ModelProvidersModule } from '#lib/model-providers';
import { PromptsModule } from '#lib/prompts';
import { QuestionsModule } from '#lib/questions';
import { ExplainModule } from '#lib/explain';
import { ProjectsModule } from '#lib/projects';
import { SchedulesModule } from '#lib/schedules';
import { SecretsModule } from '#lib/secrets';
import { RunsModule } from '#lib/runs';
import { RuntimeViewsModule } from '#lib/runtime-views';
import { StreamsModule } from '#lib/event-streams';
import { TaskManagerModule } from '#lib/task-manager';
import { TracesModule } from '#lib/task-traces';
import { UsageBudgetModule } from '#lib/usage-budget';
import { ValkeyModule } from '#lib/valkey';
import { WebhooksModule } from '#lib/webhooks';
import { databaseOptions, valkeyOptions } from './connections.js';
import { HealthModule } from './health/health.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { MetricsModule } from './metrics/metrics.module.js';

/** All parts of the server. */
@Module({})
export class AppModule {
  static forRoot(config: Config, logger: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        ObservabilityModule.forRoot({ logger, ...config }),
        DatabaseModule.forRoot(databaseOptions(config, logger)),
        ValkeyModule.forRoot(valkeyOptions(config, logger)),
        SecretsModule,
        IdentityModule,
        AuditModule,
        ProjectsModule,
        EventsModule,
        WebhooksModule,
        AdmissionModule,
        UsageBudgetModule,
        AgentManagerModule,
        TaskManagerModule,
        InboundHooksModule,
        SchedulesModule,
        ModelProvidersModule,
        HostCredentialsModule,
        RepositoriesModule,
        ChangesModule,
        QuestionsModule,
        RunsModule,
        ArtifactsModule,
        PromptsModule,
        ExplainModule,
        CoordinatorModule,
        StreamsModule,
        TracesModule,
        RuntimeViewsModule,
        HealthModule,
        MetricsModule,
        McpModule,
      ],
    };
  }
}
