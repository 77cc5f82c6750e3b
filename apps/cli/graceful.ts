import type { OptionSpec } from './command.js';
import { usageError } from './failure.js';
import type { Flags } from './flags.js';

/** The default of `--timeout`. */
const FINISH_SECONDS = 300;

/** Options of commands that stop workers. */
export const STOP_OPTIONS: readonly OptionSpec[] = [
  ['--graceful', 'finish running tasks first'],
  ['--timeout <duration>', 'maximum wait of --graceful (default 5m)'],
];

/**
 * Returns the time for running tasks to finish, in seconds. It is 0 without `--graceful`.
 *
 * @throws Failure if the options contradict each other
 */
export function readFinishSeconds(flags: Flags): number {
  const seconds = flags.seconds('timeout');
  if (flags.has('graceful')) return seconds ?? FINISH_SECONDS;
  if (seconds !== undefined) throw usageError('--timeout needs --graceful.');
  return 0;
}
