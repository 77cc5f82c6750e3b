import { SpawnError } from '../drivers/driver.js';

const REASONS: Record<string, string> = {
  ENOENT: 'was not found on this machine',
  EACCES: 'cannot be executed by this user',
  ENOEXEC: 'is not an executable file',
  E2BIG: 'has too many or too long arguments and variables',
};

/** Start errors whose cause is the state of this machine and not the command. */
const PASSING = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ENOSPC', 'EIO', 'ETXTBSY']);

const SHOWN_CHARACTERS = 200;

/** A name without a slash was looked up. A folder that this user cannot enter causes EACCES too. */
function reasonOf(program: string, code: string): string | undefined {
  const wasLookedUp = code === 'EACCES' && !program.includes('/');
  return wasLookedUp ? 'was not found in the folders that this user can read' : REASONS[code];
}

/** The reason why a program could not be started, from the error of `spawn`. */
export function explainSpawnFailure(program: string, cause: unknown): SpawnError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  const isLong = program.length > SHOWN_CHARACTERS;
  const name = isLong ? `${program.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : program;
  const reason = reasonOf(program, code) ?? `could not be started (${code})`;
  const failureClass = PASSING.has(code) ? 'infrastructure' : 'setup';
  return new SpawnError(failureClass, `The program "${name}" ${reason}`, { cause });
}
