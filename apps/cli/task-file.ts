import { readFileSync } from 'node:fs';
import type { components } from '#lib/api-client';
import { usageError } from './failure.js';
import { type Flags, omitUndefined } from './flags.js';
import type { OptionSpec } from './command.js';

export type NewTask = components['schemas']['BatchTask'];

/** Options for the fields of a task. */
export const TASK_OPTIONS: readonly OptionSpec[] = [
  ['--title <text>', 'title of the task'],
  ['--type <name>', 'type of the task'],
  ['--description <text>', 'description of the work'],
  ['--priority <number>', 'priority from 1 to 10; 10 runs first'],
  ['--project <project>', 'project of the task'],
  ['--repo <repo>', 'name or ID of the repository that the task changes'],
  ['--accept <script>', 'bash commands that prove the result of a task without a repository'],
  ['--agent <kind>', 'coding agent: KIND, such as codex, or KIND:MODEL'],
  ['--assign-to <agent>', 'the only agent that can claim the task'],
  ['--capability <name...>', 'capabilities that the agent must have'],
  ['--depends-on <task...>', 'tasks that must complete first'],
  ['--tag <name...>', 'tags of the task'],
  ['--input <json>', 'inputContext as JSON, or @FILE to read it from a file'],
  ['--attach <file...>', 'files for the coding agent, such as pictures'],
  ['--env <name=value...>', 'variables of the command; NAME alone uses the local value'],
  ['--secret <name=value...>', 'secret variables of the command; NAME alone uses the local value'],
  ['--network <policy>', 'network of the command: none, allow or host (default none)'],
  ['--allowed-host <host...>', 'hosts that the command reaches with `--network allow`'],
  ['--timeout <duration>', 'maximum duration of a run, such as 90s or 30m'],
  ['--start-at <time>', 'time from which on the task can start'],
  ['--delay <duration>', 'time until the task can start, such as 10m'],
  ['--expires-at <time>', 'time at which the task is aborted if it still waits'],
  ['--concurrency-key <text>', 'key of which few tasks run at once'],
  ['--concurrency-limit <count>', 'number of tasks of the key that run at once (default 1)'],
  ['--debounce-key <text>', 'key whose waiting task gets the start of this one'],
  ['--max-retries <count>', 'maximum number of retries'],
  ['--retry-backoff <duration>', 'maximum delay of the first retry; it doubles with each retry'],
  ['--estimated-tokens <count>', 'tokens that a run reserves from its budgets'],
];

type Fields = Partial<NewTask>;

/**
 * Converts the options to task fields.
 *
 * @param attachments the id of attached files
 */
export function toTaskFields(
  flags: Flags,
  command: readonly string[],
  attachments?: string,
): Fields {
  const { env: inputEnv, ...input } = parseInput(flags.text('input'));
  const env = { ...(inputEnv as object | undefined), ...flags.pairs('env') };
  const network = flags.text('network');
  const allowedHosts = flags.list('allowed-host');
  const inputContext = {
    ...input,
    ...omitUndefined({ network, allowedHosts, attachments }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(command.length > 0 && { command }),
  };
  return omitUndefined({
    title: flags.text('title'),
    taskType: flags.text('type'),
    description: flags.text('description'),
    priority: flags.number('priority'),
    projectId: flags.text('project'),
    repositoryId: flags.text('repo'),
    acceptanceScript: flags.text('accept'),
    agent: toAgent(flags.text('agent')),
    agentId: flags.text('assign-to'),
    requiredCapabilities: flags.list('capability'),
    dependsOn: flags.list('depends-on'),
    tags: flags.list('tag'),
    secrets: flags.pairs('secret'),
    timeoutSeconds: flags.seconds('timeout'),
    startAt: flags.text('start-at'),
    delaySeconds: flags.seconds('delay'),
    expiresAt: flags.text('expires-at'),
    concurrencyKey: flags.text('concurrency-key'),
    concurrencyLimit: flags.number('concurrency-limit'),
    debounceKey: flags.text('debounce-key'),
    maxRetries: flags.number('max-retries'),
    retryBackoffSeconds: flags.seconds('retry-backoff'),
    estimatedTokens: flags.tokens('estimated-tokens'),
    inputContext: Object.keys(inputContext).length > 0 ? inputContext : undefined,
  });
}

type Template = components['schemas']['TaskTemplate']['task'];

/**
 * The fields that replace those of a template. Single variables, secrets and keys of the input
 * replace those of the same name.
 */
export function replaceIn(template: Template, fields: Fields): Fields {
  const merged = (name: string, given: object | undefined, before: unknown) =>
    given && { [name]: { ...(before as object | undefined), ...given } };
  const input = template['inputContext'] as { env?: object } | undefined;
  const given = fields.inputContext as { env?: object } | undefined;
  return {
    ...fields,
    ...merged('secrets', fields.secrets, template['secrets']),
    ...merged(
      'inputContext',
      given && { ...given, ...merged('env', given.env, input?.env) },
      input,
    ),
  };
}

/** @param text `KIND` or `KIND:MODEL` */
export function toAgent(text: string | undefined): Fields['agent'] {
  if (text === undefined) return undefined;
  const [kind = '', ...model] = text.split(':');
  return { kind, ...(model.length > 0 && { model: model.join(':') }) };
}

function parseInput(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const json = text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text;
  const value = parseJson(json, '--input');
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw usageError('--input needs a JSON object.');
}

function parseJson(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw usageError(`${where} is not JSON: ${(error as Error).message}.`);
  }
}

/** The content of a file: one task, or a list, which can have a single task. */
export type TaskFile = { only: NewTask } | { list: NewTask[] };

/** Reads tasks from JSON or YAML: one task, a list, or `tasks:` with a list. `-` reads stdin. */
export async function readTaskFile(path: string): Promise<TaskFile> {
  const text = readFileSync(path === '-' ? 0 : path, 'utf8');
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw usageError(`${path} is neither JSON nor YAML: ${(error as Error).message}`);
  }
  const list = Array.isArray(value) ? value : (value as { tasks?: unknown } | null)?.tasks;
  if (list === undefined && isObject(value)) return { only: value as NewTask };
  if (!Array.isArray(list) || list.length === 0 || !list.every(isObject))
    throw usageError(
      `${path} has no task. It needs an object, a list of objects, or \`tasks:\` with a list.`,
    );
  return { list: list as NewTask[] };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
