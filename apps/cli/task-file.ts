import { readFileSync } from 'node:fs';
import type { components } from '#lib/api-client';
import { misuse } from './failure.js';
import { type Flags, present } from './flags.js';
import type { OptionSpec } from './command.js';

export type NewTask = components['schemas']['BatchTask'];

/** The options that say what a task is. */
export const TASK_OPTIONS: readonly OptionSpec[] = [
  ['--title <text>', 'the title'],
  ['--type <name>', 'the type of the task'],
  ['--description <text>', 'what is to be done'],
  ['--priority <number>', '1 to 10, 10 first'],
  ['--project <id>', 'the project that it belongs to'],
  ['--agent <id>', 'only this agent may take it'],
  ['--capability <name...>', 'what an agent must be able to do'],
  ['--depends-on <id...>', 'tasks that must be completed before'],
  ['--tag <name...>', 'tags to find it by'],
  ['--input <json>', 'the inputContext, or @FILE with it'],
  ['--env <name=value...>', 'variables of the command; NAME takes the value from here'],
  ['--secret <name=value...>', 'sealed variables of the command; NAME takes the value from here'],
  ['--timeout <seconds>', 'how long a run may take'],
  ['--max-retries <count>', 'how often it is tried again'],
  ['--estimated-tokens <count>', 'tokens to hold of its budgets'],
];

type Fields = Partial<NewTask>;

/** The fields of a task that the options give. */
export function fieldsOf(flags: Flags, command: readonly string[]): Fields {
  const { env: given, ...input } = inputOf(flags.text('input'));
  const env = { ...(given as object | undefined), ...flags.pairs('env') };
  const inputContext = {
    ...input,
    ...(Object.keys(env).length > 0 && { env }),
    ...(command.length > 0 && { command }),
  };
  return present({
    title: flags.text('title'),
    taskType: flags.text('type'),
    description: flags.text('description'),
    priority: flags.number('priority'),
    projectId: flags.text('project'),
    agentId: flags.text('agent'),
    requiredCapabilities: flags.list('capability'),
    dependsOn: flags.list('depends-on'),
    tags: flags.list('tag'),
    secrets: flags.pairs('secret'),
    timeoutSeconds: flags.number('timeout'),
    maxRetries: flags.number('max-retries'),
    estimatedTokens: flags.text('estimated-tokens'),
    inputContext: Object.keys(inputContext).length > 0 ? inputContext : undefined,
  });
}

function inputOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const json = text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text;
  const value = parsed(json, '--input');
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw misuse('--input needs a JSON object.');
}

function parsed(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw misuse(`${where} is not JSON: ${(error as Error).message}.`);
  }
}

/** What a file has: one task, or a list of them, which may have a single one. */
export type TasksOfFile = { only: NewTask } | { list: NewTask[] };

/** The tasks of a JSON or YAML file, `-` for standard input: one, a list, or `tasks:` with a list. */
export async function tasksOfFile(path: string): Promise<TasksOfFile> {
  const text = readFileSync(path === '-' ? 0 : path, 'utf8');
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw misuse(`${path} is neither JSON nor YAML: ${(error as Error).message}`);
  }
  const list = Array.isArray(value) ? value : (value as { tasks?: unknown } | null)?.tasks;
  if (list === undefined && isObject(value)) return { only: value as NewTask };
  if (!Array.isArray(list) || list.length === 0 || !list.every(isObject))
    throw misuse(
      `${path} has no task: it needs an object, a list of them, or \`tasks:\` with a list.`,
    );
  return { list: list as NewTask[] };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
