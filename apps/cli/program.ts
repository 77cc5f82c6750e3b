import { Command, Option } from 'commander';
import { Cli } from './cli.js';
import { COMMON, type CommandGroup, type Commands, type CommandSpec, isGroup } from './command.js';
import { Flags } from './flags.js';

/** What a word at the beginning stands for, without loading it. */
export interface Entry {
  name: string;
  summary: string;
  load: () => Promise<{ default: Commands }>;
}

/** The program with the commands behind one word loaded, or, without it, with the words alone. */
export async function buildProgram(
  entries: readonly Entry[],
  word: string | undefined,
  onEnd: (exitCode: number) => void,
): Promise<Command> {
  const program = new Command('drover')
    .description('Drover from the terminal: tasks, agents, budgets, and the servers themselves.')
    .helpCommand('help [command]', 'say what a command takes')
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .usage('[OPTION…] COMMAND [ARGUMENT…]')
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  addCommon(program);
  for (const { name, summary, load } of entries) {
    if (name !== word) {
      program.command(name).summary(summary).description(summary).allowUnknownOption();
      continue;
    }
    const found = (await load()).default[name];
    if (found === undefined) throw new Error(`${name} has no command`);
    if (isGroup(found)) addGroup(program, name, found, onEnd);
    else addCommand(program, found, name, onEnd);
  }
  return program;
}

const EXAMPLES = `
Examples:
  drover up --daemon
  drover run -- node -e 'console.log(1, 2, 3)'
  drover task list --status RUNNING
  drover task logs TASK -f

All options: drover COMMAND --help. Exit codes: 0 done, 1 failed, 2 mistyped, 3 sign in, 4 refused,
5 not found, 6 not reached, 130 Ctrl-C.
`;

function addGroup(
  program: Command,
  name: string,
  { summary, commands }: CommandGroup,
  onEnd: (exitCode: number) => void,
): void {
  const group = program.command(name).summary(summary).description(summary);
  group.enablePositionalOptions().exitOverride();
  addCommon(group);
  for (const spec of commands) addCommand(group, spec, `${name} ${nameOf(spec)}`, onEnd);
}

function addCommand(
  parent: Command,
  spec: CommandSpec,
  path: string,
  onEnd: (exitCode: number) => void,
): void {
  const command = parent
    .command(spec.usage)
    .summary(spec.summary)
    .description([spec.summary, spec.about].filter(Boolean).join('\n\n'))
    .exitOverride()
    .addHelpText('after', examplesOf(spec, path));
  // What stands behind `--` or the first argument belongs to a command of the user's.
  if (spec.usage.includes('[command...]') || spec.usage.includes('<command...>'))
    command.passThroughOptions();
  for (const [flags, about] of spec.options ?? []) command.addOption(new Option(flags, about));
  addCommon(command);
  command.action(async (...given: unknown[]) => {
    const options = typedOptions(command);
    const args = given
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
    onEnd((await spec.run(cli, args.map(String), flags)) ?? 0);
  });
}

/** They may stand before the command, between its words, and behind it. */
function addCommon(command: Command): void {
  for (const [flags, about] of COMMON) command.addOption(new Option(flags, about));
}

/** What was typed for the command and for the words before it; the last counts. */
function typedOptions(command: Command): Record<string, unknown> {
  const typed = command.parent === null ? {} : typedOptions(command.parent);
  for (const [name, value] of Object.entries(command.opts()))
    if (command.getOptionValueSource(name) === 'cli') typed[name] = value;
  return typed;
}

/** The first word that is no option. */
export function commandWord(args: readonly string[]): string | undefined {
  const taking = COMMON.filter(([flags]) => flags.includes('<')).map(
    ([flags]) => flags.split(' ')[0],
  );
  let at = 0;
  while (args[at]?.startsWith('-')) at += taking.includes(args[at]) ? 2 : 1;
  return args[at] === 'help' ? args[at + 1] : args[at];
}

export function nameOf({ usage }: CommandSpec): string {
  return usage.split(' ')[0] ?? usage;
}

function examplesOf({ examples }: CommandSpec, path: string): string {
  const lines = examples.map((line) => `  drover ${line}`);
  return lines.length === 0
    ? ''
    : `\nExample${lines.length > 1 ? 's' : ''} of ${path}:\n${lines.join('\n')}\n`;
}
