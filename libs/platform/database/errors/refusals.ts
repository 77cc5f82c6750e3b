import { refusesWrites } from './db-errors.js';

/**
 * Whether the database has refused a change, as far as this process knows, and taken none on a
 * probe since.
 */
export class Refusals {
  private refused = false;

  get standing(): boolean {
    return this.refused;
  }

  /** Takes notice of an error, and throws it on. */
  readonly noted = (error: unknown): never => {
    if (refusesWrites(error)) this.refused = true;
    throw error;
  };

  over(): void {
    this.refused = false;
  }
}
