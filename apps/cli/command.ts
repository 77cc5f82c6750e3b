import type { Cli } from './cli.js';
import type { Flags } from './flags.js';

/** An option: its flags and its help text. `--tag <name...>` takes several values. */
export type OptionSpec = readonly [flags: string, about: string];

/** One command. A new first word also needs a line in commands.ts. */
export interface CommandSpec {
  /** The name and the arguments: `show <id>`. */
  usage: string;
  summary: string;
  /** Text of `--help` after the summary. */
  about?: string;
  options?: readonly OptionSpec[];
  /**
   * Options after the first word belong to the user's command. With this option, such as `agent`,
   * the words are no command, and further options of this program can follow.
   */
  wordsWith?: string;
  /** Command lines to copy, without `drover`. */
  examples: readonly string[];
  /** @returns the exit code, 0 by default. @throws errors that `toFailure` explains */
  run(cli: Cli, args: readonly string[], flags: Flags): Promise<number | void>;
}

/** Commands that share their first word. */
export interface CommandGroup {
  summary: string;
  commands: readonly CommandSpec[];
}

export type Commands = Record<string, CommandSpec | CommandGroup>;

export function isGroup(value: CommandSpec | CommandGroup): value is CommandGroup {
  return 'commands' in value;
}

/** Options of every command. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  ['--json', 'print JSON, as the API returns it'],
  ['--context <name>', 'context to use instead of the current one'],
  ['--workspace <id>', 'workspace to use'],
  ['--no-color', 'print without colours, as with NO_COLOR=1'],
];
