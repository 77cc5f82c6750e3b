import type { components } from '#lib/api-client';

type NewTask = components['schemas']['CreateTask'];
type TemplateChange = components['schemas']['ChangeTaskTemplate'];

/** A mistake in a form that the server would not see. Its message is for the user. */
export class FormError extends Error {
  constructor(
    message: string,
    /** The name of the field, if it is about one. */
    readonly field?: string,
  ) {
    super(message);
  }
}

const TEXTS = [
  'description',
  'projectId',
  'milestoneId',
  'agentId',
  'repositoryId',
  'instructions',
  'acceptanceScript',
  'concurrencyKey',
  'debounceKey',
  'estimatedTokens',
] as const;
const NUMBERS = [
  'priority',
  'estimatedDurationMinutes',
  'maxRetries',
  'retryBackoffSeconds',
  'estimatedComplexity',
  'concurrencyLimit',
] as const;
const LISTS = ['requiredCapabilities', 'tags', 'dependsOn'] as const;
const LINES = ['steps', 'deliverables', 'acceptance'] as const;
const TIMES = ['startAt', 'expiresAt'] as const;
const OBJECTS = ['inputContext', 'metadata'] as const;
const AGENT = ['kind', 'model', 'permissionMode'] as const;

/**
 * Values for the form of a new task, by the names of `POST /agent-tasks`. The address of the form
 * can have each of them, without secrets: `/tasks/new?title=Build&timeoutSeconds=60&tags=["a"]`.
 */
export type TaskPrefill = Omit<Partial<NewTask>, 'secrets'>;

/** The address of the form: values, and what the form begins with. */
export interface NewTaskSearch extends TaskPrefill {
  /** The id of a template. */
  template?: string;
  /** The id of a task that the new one is like. */
  duplicates?: string;
}

const SCALARS: readonly string[] = ['title', 'taskType', 'timeoutSeconds'];
const FIELDS = new Set(SCALARS.concat('agent', TEXTS, NUMBERS, LISTS, LINES, TIMES, OBJECTS));

/** Parses the values of an address. Other values are ignored, because users can edit addresses. */
export function parsePrefill(search: Record<string, unknown>): TaskPrefill {
  const known = Object.entries(search).filter(
    ([name, value]) => FIELDS.has(name) && value !== undefined && fitsField(name, value),
  );
  return Object.fromEntries(known);
}

/** Parses the address of the form. */
export function parseNewTask(search: Record<string, unknown>): NewTaskSearch {
  const ids = (['template', 'duplicates'] as const).flatMap((name) => {
    const id = search[name];
    return typeof id === 'string' && id !== '' ? [[name, id]] : [];
  });
  return { ...parsePrefill(search), ...Object.fromEntries(ids) };
}

/**
 * The fields of a template that the form can show. The others stay out of the form, and out of the
 * request: tasks have them from the template.
 */
export function toPrefillOfTemplate(template: Record<string, unknown>): Partial<NewTask> {
  const { secrets } = template as Partial<NewTask>;
  return { ...parsePrefill(template), ...(secrets && { secrets }) };
}

function fitsField(name: string, value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isOneOf(OBJECTS, name) || name === 'agent') return isObject;
  const items = [value].flat();
  if (isOneOf(LISTS, name) || isOneOf(LINES, name)) return items.every(isScalar);
  return isScalar(value) || (name === 'timeoutSeconds' && value === null);
}

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const isOneOf = (names: readonly string[], name: string) => names.includes(name);

/** The texts of the form's fields for these values. An absent field is empty. */
export function toFormValues(prefill: Partial<NewTask>): Record<string, string> {
  const values: Record<string, string> = {};
  const from = prefill as Record<string, unknown>;
  for (const name of SCALARS.concat(TEXTS, NUMBERS))
    if (from[name] !== undefined && from[name] !== null) values[name] = String(from[name]);
  if (prefill.timeoutSeconds === null) values['timeoutSeconds'] = '0';
  for (const name of LISTS) values[name] = [from[name] ?? []].flat().join(', ');
  for (const name of LINES) values[name] = [from[name] ?? []].flat().join('\n');
  for (const name of TIMES) values[name] = toLocalTime(from[name]);
  for (const name of AGENT) values[`agent.${name}`] = String(prefill.agent?.[name] ?? '');
  values['agent.settings'] = toJson(prefill.agent?.settings);
  values['metadata'] = toJson(prefill.metadata);
  const secrets = Object.entries(prefill.secrets ?? {});
  values['secrets'] = secrets.map((pair) => pair.join('=')).join('\n');
  const { command, ...input } = prefill.inputContext ?? {};
  const [shell, option, line, ...rest] = Array.isArray(command) ? (command as unknown[]) : [];
  const isShellLine =
    shell === 'sh' && option === '-c' && typeof line === 'string' && rest.length === 0;
  values['command'] = isShellLine ? line : '';
  values['inputContext'] = toJson(isShellLine ? input : prefill.inputContext);
  return values;
}

function toJson(value: object | undefined): string {
  if (value === undefined || Object.keys(value).length === 0) return '';
  return JSON.stringify(value, null, 2);
}

/** The form that an input of the type `datetime-local` needs. */
function toLocalTime(at: unknown): string {
  const ms = Date.parse(String(at));
  if (Number.isNaN(ms)) return '';
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 19);
}

/** Builds the request for a new task from its form. @throws FormError if a field is invalid JSON */
export function toTaskDraft(form: FormData): NewTask {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const draft: Record<string, unknown> = { title: text('title'), taskType: text('taskType') };
  for (const name of TEXTS) if (text(name) !== '') draft[name] = text(name);
  for (const name of NUMBERS) if (text(name) !== '') draft[name] = Number(text(name));
  for (const name of TIMES) if (text(name) !== '') draft[name] = new Date(text(name)).toISOString();
  for (const name of LISTS) {
    // A tag can contain spaces.
    const items = splitText(text(name), name === 'tags' ? /,/ : /[,\s]/);
    if (items.length > 0) draft[name] = items;
  }
  for (const name of LINES) {
    const lines = splitText(text(name), /\n/);
    if (lines.length > 0) draft[name] = lines;
  }
  const timeout = text('timeoutSeconds');
  if (timeout !== '') draft['timeoutSeconds'] = Number(timeout) === 0 ? null : Number(timeout);
  const agent = readAgent(text);
  const inputContext = readInput(text('inputContext'), text('command'));
  const metadata = parseInput(text('metadata'), 'metadata');
  const secrets = readVariables(text('secrets'), 'secrets');
  return Object.assign(draft as NewTask, {
    ...(agent && { agent }),
    ...(inputContext && { inputContext }),
    ...(metadata && { metadata }),
    ...(secrets && { secrets }),
  });
}

/**
 * The request for a task of a template. A field that the form has and that is empty now is left out
 * of the task.
 */
export function toTaskOfTemplate(
  draft: NewTask,
  template: Record<string, unknown>,
): Partial<NewTask> {
  const removed = Object.keys(toPrefillOfTemplate(template)).filter((name) => !(name in draft));
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...draft };
}

/**
 * The change of a template from its form. Fields of the template that the form cannot show stay.
 *
 * @throws FormError if a field is invalid JSON
 */
export function toTemplateChange(
  form: FormData,
  template: Record<string, unknown>,
): TemplateChange {
  const { title, ...draft } = toTaskDraft(form);
  const shown = toPrefillOfTemplate(template);
  const rest = Object.entries(template).filter(([name]) => !(name in shown));
  return {
    name: String(form.get('name')).trim(),
    description: String(form.get('purpose')).trim() || null,
    task: { ...Object.fromEntries(rest), ...draft, ...(title !== '' && { title }) },
  };
}

function splitText(text: string, between: RegExp): string[] {
  return text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function readAgent(text: (name: string) => string): object | undefined {
  const given = AGENT.filter((name) => text(`agent.${name}`) !== '');
  const settings = parseInput(text('agent.settings'), 'agent.settings');
  if (given.length === 0 && settings === undefined) return undefined;
  const agent = Object.fromEntries(given.map((name) => [name, text(`agent.${name}`)]));
  return { ...agent, ...(settings && { settings }) };
}

function readInput(json: string, command: string): Record<string, unknown> | undefined {
  const input = parseInput(json, 'inputContext');
  return command === '' ? input : { ...input, command: ['sh', '-c', command] };
}

/**
 * Reads lines of `NAME=value`.
 *
 * @throws FormError if a line has no name
 */
export function readVariables(text: string, field: string): Record<string, string> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return undefined;
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new FormError('Each line must be NAME=value.', field);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** @throws FormError if the text is neither empty nor a JSON object */
export function parseInput(json: string, field?: string): Record<string, unknown> | undefined {
  if (json === '') return undefined;
  const message =
    'This is not a JSON object. Enter one such as {"branch": "main"}, or leave the field empty.';
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new FormError(message, field);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FormError(message, field);
  return value as Record<string, unknown>;
}
