import { Module } from '@nestjs/common';
import { AgentManagerModule, WriteProbe } from '#lib/agent-manager';
import { refusesWrites } from '#lib/database';
import {
  ChangesRefused,
  DATABASE_PROBE,
  GATEWAY_PROBE,
  Health,
  type Probe,
  VALKEY_PROBE,
} from '#lib/observability';
import { GatewayReach, SessionsModule } from '#lib/runs';
import { refusesChanges, ValkeyClient } from '#lib/valkey';
import { HealthController } from './health.controller.js';

/** What to throw on of a probe's error. */
function refusedIf(isRefusal: (error: unknown) => boolean) {
  return (error: unknown): never => {
    throw isRefusal(error) ? new ChangesRefused('It takes no changes', { cause: error }) : error;
  };
}

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
          probe.ask().catch(refusedIf(refusesWrites)),
    },
    {
      provide: VALKEY_PROBE,
      inject: [ValkeyClient],
      useFactory:
        (valkey: ValkeyClient): Probe =>
        () =>
          valkey.probe().catch(refusedIf(refusesChanges)),
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
