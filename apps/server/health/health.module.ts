import { Module } from '@nestjs/common';
import { Database, query } from '#lib/database';
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
  ],
  exports: [Health],
})
export class HealthModule {}
