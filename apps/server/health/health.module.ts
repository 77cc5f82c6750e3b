import { Module } from '@nestjs/common';
import { Database, query } from '#lib/database';
import {
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
import { ValkeyClient } from '#lib/valkey';
import { HealthController } from './health.controller.js';

const ping = query<unknown>('health_ping', 'SELECT 1');

@Module({
  imports: [SessionsModule],
  controllers: [HealthController],
  providers: [
    Health,
    {
      provide: DATABASE_PROBE,
      inject: [Database],
      useFactory:
        (database: Database): Probe =>
        async () => {
          await database.service.rows(ping);
        },
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
