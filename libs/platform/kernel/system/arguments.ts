/** The result of parsing a program's arguments: flags, a request for help, or a mistake. */
export type Arguments<F extends string> =
  | { kind: 'flags'; flags: Record<F, boolean> }
  | { kind: 'help'; text: string }
  | { kind: 'wrong'; sentence: string };

const HELP = ['--help', '-h'];

/**
 * Parses a program's arguments. All settings come from the environment, so an argument is a flag or
 * a mistake: a mistyped `--migrateonly` must not start a server.
 *
 * @param usage the first lines of the help
 * @param known each flag with its description
 */
export function readArguments<const F extends string>(
  usage: string,
  known: Record<F, string>,
  given = process.argv.slice(2),
): Arguments<F> {
  if (given.some((word) => HELP.includes(word))) return { kind: 'help', text: help(usage, known) };
  const wrong = given.find((word) => !Object.hasOwn(known, word));
  if (wrong !== undefined) {
    const sentence = `${wrong} is no argument of this program: --help says which there are.`;
    return { kind: 'wrong', sentence };
  }
  const names = Object.keys(known) as F[];
  const flags = Object.fromEntries(names.map((name) => [name, given.includes(name)]));
  return { kind: 'flags', flags: flags as Record<F, boolean> };
}

/**
 * Does the same as `readArguments` for a program's first line: prints help and mistakes, and then
 * ends the process.
 */
export function requireArguments<const F extends string = never>(
  usage: string,
  known = {} as Record<F, string>,
): Record<F, boolean> {
  const read = readArguments(usage, known);
  if (read.kind === 'flags') return read.flags;
  if (read.kind === 'help') {
    process.stdout.write(read.text);
    process.exit(0);
  }
  process.stderr.write(`${read.sentence}\n`);
  process.exit(1);
}

function help(usage: string, known: Record<string, string>): string {
  const all = { ...known, '--help': 'says this' };
  const width = Math.max(...Object.keys(all).map((name) => name.length));
  const lines = Object.entries(all).map(([name, does]) => `  ${name.padEnd(width)}  ${does}`);
  return `${usage}\n\n${lines.join('\n')}\n`;
}
