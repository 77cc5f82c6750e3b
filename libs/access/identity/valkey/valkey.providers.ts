import type { FactoryProvider, Provider } from '@nestjs/common';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber } from '#lib/valkey';
import { ATTEMPT_LIMITER, RateLimiter, REQUEST_LIMITER } from '../rate-limit/rate-limiter.js';
import { ValkeyCounts } from '../rate-limit/valkey-counts.js';
import { REVOCATION_BUS, type RevocationBus } from '../tokens/revocations.js';
import { ValkeyRevocationBus } from '../tokens/valkey-revocation-bus.js';

const optional = (token: typeof ValkeyClient | typeof ValkeySubscriber) => ({
  token,
  optional: true,
});

function limiterOf(what: string): FactoryProvider['useFactory'] {
  return (logger: Logger, valkey?: ValkeyClient): RateLimiter =>
    new RateLimiter({
      shared: valkey && new ValkeyCounts(valkey),
      onOutage: (error) => logger.warn(`${what} are counted by this server alone`, { error }),
    });
}

/** The ports that identity serves faster with Valkey. All work without it. */
export const VALKEY_PROVIDERS: Provider[] = [
  {
    provide: ATTEMPT_LIMITER,
    inject: [Logger, optional(ValkeyClient)],
    useFactory: limiterOf('sign-in attempts'),
  },
  {
    provide: REQUEST_LIMITER,
    inject: [Logger, optional(ValkeyClient)],
    useFactory: limiterOf('requests'),
  },
  {
    provide: REVOCATION_BUS,
    inject: [optional(ValkeyClient), optional(ValkeySubscriber)],
    useFactory: (client?: ValkeyClient, subscriber?: ValkeySubscriber): RevocationBus | undefined =>
      client && subscriber ? new ValkeyRevocationBus(client, subscriber) : undefined,
  },
];
