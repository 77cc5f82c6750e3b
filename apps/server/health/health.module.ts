import { Module } from '@nestjs/common';
import { AgentManagerModule, WriteProbe } from '#lib/agent-manager';
import {
  DATABASE_PROBE,
  GATEWAY_PROBE,
  Health,
  type Probe,
  VALKEY_PROBE,
} from '#lib/observability';
import { GatewayReach, SessionsModule } from '#lib/runs';
import { ValkeyClient } from '#lib/valkey';
import { HealthController } from './health.controller.js';

@Module({
  imports: [AgentManagerModule, SessionsModule],
  controllers: [HealthController],
  providers: [
    Health,
    {
      provide: DATABASE_PROBE,
      inject: [WriteProbe],
      useFactory:
        (probe: WriteProbe): Probe =>
        () =>
          probe.ask(),
    },
    {
      provide: VALKEY_PROBE,
      inject: [ValkeyClient],
      useFactory:
        (valkey: ValkeyClient): Probe =>
        () =>
          valkey.ping(),
    },
    {
      provide: GATEWAY_PROBE,
      inject: [GatewayReach],
      useFactory: (reach: GatewayReach): Probe | undefined =>
        reach.configured ? () => reach.probe() : undefined,
    },
  ],
  exports: [Health],
})
export class HealthModule {}
