import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isAlive, ownRef, type ProcessRef } from '#lib/session-runtime';
import { messageOf } from '../client/errors.js';

/** The content of a file that belongs to one living process. */
interface Owned {
  owner: ProcessRef;
}

/** Another living process owns the file. The message is a sentence. */
export class OwnedElsewhere extends Error {}

/**
 * Writes a file of the host through a rename, so that readers always find a complete file. It needs
 * no fsync: it describes processes, which do not survive a crash of the machine.
 *
 * @param temporary the name before the rename; writers of one file need different ones
 */
export function writeJson(path: string, value: object, temporary = `${path}.new`): void {
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  renameSync(temporary, path);
}

/**
 * @returns undefined if there is no such file
 * @throws Error in a sentence if it has another content
 */
export function readJson<T>(path: string, isOurs: (value: Partial<T>) => boolean): T | undefined {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as T | null;
    if (value === null || !isOurs(value)) throw new Error('it holds something else');
    return value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(
      `The state file ${path} cannot be read (${messageOf(error)}): remove it to start afresh.`,
      { cause: error },
    );
  }
}

/**
 * Takes a file over from an earlier process, and records this process as its owner.
 *
 * @param next creates its content from the earlier content
 * @param conflict completes "Process 7 already works with …"
 * @throws OwnedElsewhere if another living process owns it, Error in a sentence if it has another
 *   content
 */
export function takeOver<T extends Owned>(
  path: string,
  conflict: string,
  next: (earlier: T | undefined) => Omit<T, 'owner'>,
): T {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const earlier = readJson<T>(path, ({ owner }) => typeof owner?.pid === 'number');
  if (earlier !== undefined && earlier.owner.pid !== process.pid && isAlive(earlier.owner)) {
    throw new OwnedElsewhere(`Process ${earlier.owner.pid} already works with ${conflict}.`);
  }
  const content = { ...next(earlier), owner: ownRef() } as T;
  writeJson(path, content);
  return content;
}
