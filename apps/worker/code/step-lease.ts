import { hasCode } from '#lib/agent-host';

/** The lease of a step. */
const LEASE_MS = 60_000;
/** A pause that ends runs ends a proof after this time. */
const RENEW_MS = 10_000;

/** Renews the lease of a step, or of a check, until it is ended or lost. */
export class StepLease {
  private readonly losing = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewedAt = performance.now();

  constructor(private readonly renew: () => Promise<unknown>) {
    this.timer = setInterval(() => void this.renewNow(), RENEW_MS);
  }

  /** Aborts when another host can have the step. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** Loses the lease if the error says that another host has the step, or that it has ended. */
  heed(error: unknown): void {
    const isLost = hasCode(error, 'stale_step', 'change_not_found', 'repository_not_found');
    if (isLost) this.losing.abort(error);
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** Never rejects. */
  async renewNow(): Promise<void> {
    const askedAt = performance.now();
    try {
      await this.renew();
      this.renewedAt = askedAt;
    } catch (error) {
      // A push after the lease could come when another host has looked already.
      if (performance.now() - this.renewedAt > LEASE_MS) this.losing.abort(error);
      else this.heed(error);
    }
  }
}
