import type { Tenant } from './tenant.js';

/**
 * A tenant that many requests use. One of them can make the next impossible, for example by deleting
 * what it needs, so a refused request is repeated with a new tenant.
 */
export class ReusedTenant {
  #tenant: Tenant | undefined;

  constructor(private readonly create: () => Promise<Tenant>) {}

  /** @returns the accepted result, or the one with a new tenant */
  async ask<T>(
    request: (tenant: Tenant) => Promise<T>,
    accepts: (result: T) => boolean,
  ): Promise<T> {
    const result = this.#tenant && (await request(this.#tenant));
    if (result !== undefined && accepts(result)) return result;
    this.#tenant = await this.create();
    return request(this.#tenant);
  }
}
