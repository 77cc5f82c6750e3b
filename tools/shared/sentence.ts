import { EmbeddedError } from '#lib/local-servers';
import { MigrationError } from '#lib/database';

/** An error whose message is all that the user needs to read: the fault and the action to take. */
export class Sentence extends Error {}

/** Returns the text to print for an error: its sentence if it has one, else all details. */
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
