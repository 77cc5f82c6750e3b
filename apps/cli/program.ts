import { Command, Option } from 'commander';
import { DroverProblem } from '#lib/api-client';
import { Cli } from './cli.js';
import {
  COMMON_OPTIONS,
  type CommandGroup,
  type Commands,
  type CommandSpec,
  isGroup,
} from './command.js';
import { EXIT } from './exit-codes.js';
import { Failure, toFailure } from './failure.js';
import { Flags } from './flags.js';

/** A first word, with a function that loads its commands. */
export interface Entry {
  name: string;
  summary: string;
  load: () => Promise<{ default: Commands }>;
}

/** Builds the program. Only the commands of `word` are loaded. */
export async function buildProgram(
  entries: readonly Entry[],
  word: string | undefined,
  onEnd: (exitCode: number) => void,
): Promise<Command> {
  const program = new Command('drover')
    .description('Manage Drover from the terminal: tasks, agents, budgets and servers.')
    .helpCommand('help [command]', 'Print help for a command')
    .helpOption('-h, --help', 'print help')
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .usage('[option…] <command> [argument…]')
    .addHelpText('after', EXAMPLES)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'drover:')) })
    .exitOverride();
  nameHelpAfterErrors(program);
  addCommon(program);
  for (const { name, summary, load } of entries) {
    if (name !== word) {
      program.command(name).summary(summary).description(summary).allowUnknownOption();
      continue;
    }
    const found = (await load()).default[name];
    if (found === undefined) throw new Error(`${name} has no command`);
    if (isGroup(found)) addGroup(program, name, found, onEnd);
    else addCommand(program, found, onEnd);
  }
  return program;
}

const EXAMPLES = `
Examples:
  drover up --daemon
  drover run -- node -e 'console.log(1, 2, 3)'
  drover task list --status RUNNING
  drover task logs TASK -f

Run \`drover <command> --help\` for all options of a command.

Exit codes:
  0    success
  1    a task did not complete, or another failure
  2    usage error
  3    sign-in required
  4    request refused
  5    not found
  6    server unreachable, failing (500 and above) or busy (429)
  130  interrupted with Ctrl-C`;

function addGroup(
  program: Command,
  name: string,
  { summary, commands }: CommandGroup,
  onEnd: (exitCode: number) => void,
): void {
  const group = program.command(name).summary(summary).description(summary);
  group.enablePositionalOptions().exitOverride();
  nameHelpAfterErrors(group);
  addCommon(group);
  for (const spec of commands) addCommand(group, spec, onEnd);
}

function addCommand(parent: Command, spec: CommandSpec, onEnd: (exitCode: number) => void): void {
  const command = parent
    .command(spec.usage)
    .summary(spec.summary)
    .description([spec.summary, spec.about].filter(Boolean).join('\n\n'))
    .exitOverride()
    .addHelpText('after', formatExamples(spec));
  nameHelpAfterErrors(command);
  // Words after `--` belong to the user's command, and after the first word if all words do.
  if (/^\S+ [[<]command\.\.\./.test(spec.usage)) command.passThroughOptions();
  if (spec.wordsWith) {
    command.on(`option:${spec.wordsWith}`, () => command.passThroughOptions(false));
  }
  for (const [flags, about] of spec.options ?? []) command.addOption(new Option(flags, about));
  addCommon(command);
  command.action(async (...values: unknown[]) => {
    const options = readTypedOptions(command);
    const args = values
      .slice(0, -2)
      .flat()
      .filter((arg) => arg !== undefined);
    const flags = new Flags(options);
    const cli = new Cli({
      json: flags.has('json'),
      colour: options['color'] !== false,
      context: flags.text('context'),
      workspaceId: flags.text('workspace'),
    });
    const found = await withIds(cli, spec, { args: args.map(String), options });
    try {
      onEnd((await spec.run(cli, found.args, new Flags(found.options))) ?? 0);
    } catch (error) {
      throw await withHint(cli, spec, { args: found.args, error });
    }
  });
}

/** Names options in a refusal. Adds to a 404 that the first argument is the id of another kind. */
async function withHint(cli: Cli, spec: CommandSpec, failed: { args: string[]; error: unknown }) {
  const { args, error } = failed;
  const [word] = args;
  if (!(error instanceof DroverProblem)) return error;
  const failure = toFailure(error, spec);
  if (error.stack !== undefined) failure.stack = error.stack;
  if (error.status !== 404 || word === undefined) return failure;
  const { hintAtOther, kindsOf } = await import('./names.js');
  const kind = kindsOf(spec.usage)[0]?.kind;
  const hint = kind && (await hintAtOther(cli, kind, word));
  return hint ? new Failure(failure.message, hint, EXIT.notFound) : failure;
}

/** The values that stand for things by a part of an id or by a name are replaced by ids. */
async function withIds(cli: Cli, { usage, options = [] }: CommandSpec, typed: Typed) {
  const { findIds, kindsOf } = await import('./names.js');
  const args = [...typed.args];
  for (const [index, { kind, isMany }] of kindsOf(usage).entries()) {
    if (kind === undefined) continue;
    const end = isMany ? args.length : index + 1;
    args.splice(index, end - index, ...(await findIds(cli, kind, args.slice(index, end))));
  }
  const found = { ...typed.options };
  for (const [text] of options) {
    const name = new Option(text).attributeName();
    const [value] = kindsOf(text);
    const given = found[name];
    // An empty word removes a setting.
    if (value?.kind === undefined || given === undefined || given === '') continue;
    const words = Array.isArray(given) ? given.map(String) : [String(given)];
    const ids = await findIds(cli, value.kind, words);
    found[name] = Array.isArray(given) ? ids : ids[0];
  }
  return { args, options: found };
}

interface Typed {
  args: string[];
  options: Record<string, unknown>;
}

/** Common options can precede the command, follow it or stand between its words. */
function addCommon(command: Command): void {
  for (const [flags, about] of COMMON_OPTIONS) command.addOption(new Option(flags, about));
}

/** Reads the typed options of the command and of its parents. The innermost value wins. */
function readTypedOptions(command: Command): Record<string, unknown> {
  const typed = command.parent === null ? {} : readTypedOptions(command.parent);
  for (const [name, value] of Object.entries(command.opts()))
    if (command.getOptionValueSource(name) === 'cli') typed[name] = value;
  return typed;
}

/** Finds the first word that is not an option. */
export function commandWord(args: readonly string[]): string | undefined {
  const withValue = COMMON_OPTIONS.filter(([flags]) => flags.includes('<')).map(
    ([flags]) => flags.split(' ')[0],
  );
  let at = 0;
  while (args[at]?.startsWith('-')) at += withValue.includes(args[at]) ? 2 : 1;
  return args[at] === 'help' ? args[at + 1] : args[at];
}

export function commandName({ usage }: CommandSpec): string {
  return usage.split(' ')[0] ?? usage;
}

/** The words that run a command, such as `drover task`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

function nameHelpAfterErrors(command: Command): void {
  command.showHelpAfterError(`See \`${pathOf(command)} --help\`.`);
}

function formatExamples({ examples }: CommandSpec): string {
  const lines = examples.map((line) => `  drover ${line}`);
  return lines.length === 0 ? '' : `\nExample${lines.length > 1 ? 's' : ''}:\n${lines.join('\n')}`;
}
