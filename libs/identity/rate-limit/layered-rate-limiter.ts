import type { RateDecision, RateLimit, RateLimiter } from './rate-limiter.js';

/**
 * Counts in this process and, when it can be reached, in the place that all servers share. Both must
 * allow; without the shared one each server bounds what comes to it, and has counted all along.
 */
export class LayeredRateLimiter implements RateLimiter {
  constructor(
    private readonly local: RateLimiter,
    private readonly shared: RateLimiter,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  async take(key: string, limit: RateLimit): Promise<RateDecision> {
    const decision = await this.local.take(key, limit);
    if (!decision.allowed) return decision;
    return this.shared.take(key, limit).catch((error: unknown) => {
      this.onFailure(error);
      return decision;
    });
  }
}
