import type { SessionExit } from '../driver.js';
import { tellingLine } from '../output/telling-line.js';

const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

/** The C library's first and last realtime signal on Linux. */
const [FIRST_REALTIME, LAST_REALTIME] = [34, 64];

/** A shell, or a container's first process, passes a child's signal on as 128 and its number. */
export function signalOf(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= 128) return undefined;
  const number = exitCode - 128;
  const isRealtime = number >= FIRST_REALTIME && number <= LAST_REALTIME;
  return isRealtime ? `SIGRTMIN+${number - FIRST_REALTIME}` : SIGNALS[number];
}

/** A runtime that ends itself says so; the kernel has then nothing to do with it. */
const OUT_OF_MEMORY =
  /heap out of memory|java\.lang\.OutOfMemoryError|^MemoryError\b|fatal error: runtime: out of memory|memory allocation of \d+ bytes failed/m;

/** Whether a program's words say that it ended because its own heap was full. */
export function tellsOfFullHeap(words: string): boolean {
  return OUT_OF_MEMORY.test(words);
}

/** Characters of a failure's message, as the server takes it. */
export const MAX_MESSAGE = 1_000;

/** The failure, with the line of the last words that explains it best. */
export function describeExit(
  { exitCode, signal }: Pick<SessionExit, 'exitCode' | 'signal'>,
  lastWords: readonly string[] = [],
): string {
  const what = exitCode === null ? `Ended by ${signal ?? 'a signal'}` : `Exited with ${exitCode}`;
  const reason = tellingLine(lastWords);
  const message = reason === undefined ? what : `${what}: ${reason}`;
  return message.slice(0, MAX_MESSAGE).toWellFormed();
}
