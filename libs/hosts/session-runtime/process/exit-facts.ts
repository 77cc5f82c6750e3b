import type { SessionExit } from '../drivers/driver.js';
import { tellingLine } from '../output/telling-line.js';

/** A runtime that ends itself prints this. The kernel kills nothing then. */
const OUT_OF_MEMORY =
  /heap out of memory|java\.lang\.OutOfMemoryError|^MemoryError\b|fatal error: runtime: out of memory|memory allocation of \d+ bytes failed/m;

/** True if the program's output says that it ended because its own heap was full. */
export function reportsFullHeap(words: string): boolean {
  return OUT_OF_MEMORY.test(words);
}

/** The message of the C library, that of Go, and those of Node, which has no name for the error. */
const OUT_OF_QUOTA = /\bdisk quota exceeded\b|system error -122\b|\berrno: -122\b/i;

/** True if a quota refused files of the session: it filled its folder, or its output says so. */
export function wasRefusedSpace(
  { folderFull }: Pick<SessionExit, 'folderFull'>,
  words: string,
): boolean {
  return folderFull === true || OUT_OF_QUOTA.test(words);
}

/** The maximum of a failure message on the server, in characters. */
export const MAX_MESSAGE = 1_000;

/** Describes the failure, with the line of the last output that explains it best. */
export function describeExit(
  exit: Pick<SessionExit, 'lost' | 'exitCode' | 'signal' | 'exceeded' | 'folderFull'>,
  lastWords: readonly string[] = [],
): string {
  const what = exit.folderFull ? `${endOf(exit)}, and its folder is full` : endOf(exit);
  const reason = tellingLine(lastWords);
  const message = reason === undefined ? what : `${what}: ${reason}`;
  return message.slice(0, MAX_MESSAGE).toWellFormed();
}

function endOf({ lost, exitCode, signal, exceeded }: Parameters<typeof describeExit>[0]): string {
  if (lost) return 'The session ended, and what watched it was ended too: nobody knows how';
  if (exceeded) return `The ${exceeded.limit} limit of ${exceeded.mb} MiB was reached`;
  return exitCode === null ? `Ended by ${signal ?? 'a signal'}` : `Exited with ${exitCode}`;
}
