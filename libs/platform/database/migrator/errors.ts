/** A migration that was refused or has failed, in one sentence that says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
