import type { Provider } from '@nestjs/common';
import { Logger } from '#lib/observability';
import { ValkeyClient, ValkeySubscriber } from '#lib/valkey';
import { InProcessRateLimiter } from './rate-limit/in-process-rate-limiter.js';
import { LayeredRateLimiter } from './rate-limit/layered-rate-limiter.js';
import { RATE_LIMITER, type RateLimiter } from './rate-limit/rate-limiter.js';
import { ValkeyRateLimiter } from './rate-limit/valkey-rate-limiter.js';
import { REVOCATION_BUS, type RevocationBus } from './tokens/revocations.js';
import { ValkeyRevocationBus } from './tokens/valkey-revocation-bus.js';

const optional = (token: typeof ValkeyClient | typeof ValkeySubscriber) => ({
  token,
  optional: true,
});

/** The ports that identity serves better with Valkey, and also without it: both ports work when it is absent. */
export const VALKEY_PROVIDERS: Provider[] = [
  {
    provide: RATE_LIMITER,
    inject: [Logger, optional(ValkeyClient)],
    useFactory: (logger: Logger, valkey?: ValkeyClient): RateLimiter => {
      const local = new InProcessRateLimiter();
      if (valkey === undefined) return local;
      return new LayeredRateLimiter(local, new ValkeyRateLimiter(valkey), (error) =>
        logger.warn('sign-in attempts are counted by this server alone', { error }),
      );
    },
  },
  {
    provide: REVOCATION_BUS,
    inject: [optional(ValkeyClient), optional(ValkeySubscriber)],
    useFactory: (
      client?: ValkeyClient,
      subscriber?: ValkeySubscriber,
    ): RevocationBus | undefined =>
      client && subscriber ? new ValkeyRevocationBus(client, subscriber) : undefined,
  },
];
