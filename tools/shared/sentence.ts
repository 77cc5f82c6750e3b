import { EmbeddedError } from '#lib/local-servers';
import { MigrationError } from '#lib/database';

/** An error whose message is all that the user needs to read: what is wrong, and what to do. */
export class Sentence extends Error {}

/** What to print for an error: a sentence where somebody has foreseen it, else all that is known. */
export function explain(error: unknown): string {
  if (error instanceof Sentence || error instanceof EmbeddedError) return error.message;
  if (error instanceof MigrationError) return error.message;
  const { code, path, stack } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk that holds ${path ?? 'the data'} is full: free some space there.`;
    case '53100':
      return 'The disk that holds the data is full: free some space there.';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${path ?? 'The data folder'} can't be written to: run as its owner, or in a clone of your own.`;
    default:
      return stack ?? String(error);
  }
}
