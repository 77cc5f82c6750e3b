import type { Cli } from './cli.js';
import type { Flags } from './flags.js';

/** An option: how it is written, and what it does. `--tag <name...>` may be given several times. */
export type OptionSpec = readonly [flags: string, about: string];

/** One command. Adding one is an entry here and, for a new first word, a line in commands.ts. */
export interface CommandSpec {
  /** Its name and its arguments: `show <id>`. */
  usage: string;
  summary: string;
  /** What `--help` says beyond the summary. */
  about?: string;
  options?: readonly OptionSpec[];
  /** Lines to copy, without `drover`. */
  examples: readonly string[];
  /** @returns the exit code, 0 unless given. @throws what `failureOf` explains */
  run(cli: Cli, args: readonly string[], flags: Flags): Promise<number | void>;
}

/** Commands behind one word. */
export interface CommandGroup {
  summary: string;
  commands: readonly CommandSpec[];
}

export type Commands = Record<string, CommandSpec | CommandGroup>;

export function isGroup(value: CommandSpec | CommandGroup): value is CommandGroup {
  return 'commands' in value;
}

/** Options that every command takes. */
export const COMMON: readonly OptionSpec[] = [
  ['--json', 'print what the API answers, as JSON'],
  ['--context <name>', 'the context to use instead of the current one'],
  ['--workspace <id>', 'the workspace to act in'],
  ['--no-color', 'print without colours, as NO_COLOR=1 does'],
];
