import type { Logger } from '#lib/observability';
import { InProcessRateLimiter } from './in-process-rate-limiter.js';
import { LayeredRateLimiter } from './layered-rate-limiter.js';
import type { RateLimiter } from './rate-limiter.js';

/** The limiter of this process, with the shared one on top where there is one. */
export function createRateLimiter(logger: Logger, shared: RateLimiter | undefined): RateLimiter {
  const local = new InProcessRateLimiter();
  if (shared === undefined) return local;
  return new LayeredRateLimiter(local, shared, (error) =>
    logger.warn('attempts are counted by this server alone', { error }),
  );
}
