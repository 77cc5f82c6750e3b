import { Module } from '@nestjs/common';
import { AgentManagerModule, WriteProbe } from '#lib/agent-manager';
import { Database, refusesWrites } from '#lib/database';
import {
  ChangesRefused,
  DATABASE_PROBE,
  GATEWAY_PROBE,
  Health,
  HEALTH_WARNINGS,
  type Probe,
  VALKEY_PROBE,
  type WarningSource,
} from '#lib/observability';
import { endingApiKeys } from '#lib/identity';
import { GatewayReach, SessionsModule } from '#lib/runs';
import { refusesChanges, ValkeyClient } from '#lib/valkey';
import { HealthController } from './health.controller.js';

/** Rethrows the probe's errors that are refusals; see `isRefusal`. */
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
    {
      provide: HEALTH_WARNINGS,
      inject: [Database],
      useFactory:
        (database: Database): WarningSource =>
        () =>
          warnOfKeys(database),
    },
  ],
  exports: [Health],
})
export class HealthModule {}

async function warnOfKeys(database: Database): Promise<string[]> {
  const [ending] = await database.service.rows(endingApiKeys);
  if (!ending?.first) return [];
  const keys = ending.count === 1 ? '1 API key in use ends' : `${ending.count} API keys in use end`;
  return [
    `${keys} within 14 days, the first at ${ending.first.toISOString()}; the log names them.`,
  ];
}
