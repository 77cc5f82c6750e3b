/**
 * The addresses of servers of one installation, which share their database. Requests go to the
 * current one, until it does not answer. Clients that share this object share its choice.
 */
export class Addresses {
  private readonly all: readonly string[];
  private at = 0;

  /** @param given addresses without `/api/v1`, separated by commas */
  constructor(given: string) {
    this.all = given.split(',').map((address) => address.trim().replace(/\/$/, ''));
  }

  static of(given: string | Addresses): Addresses {
    return given instanceof Addresses ? given : new Addresses(given);
  }

  get current(): string {
    return this.all[this.at] ?? '';
  }

  get count(): number {
    return this.all.length;
  }

  /** The server did not answer there: later requests go to the next address. */
  leave(address: string): void {
    if (address === this.current) this.at = (this.at + 1) % this.all.length;
  }
}
