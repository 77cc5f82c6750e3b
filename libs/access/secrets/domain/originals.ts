import {
  type DataKey,
  isSealed,
  keyIdOf,
  openValue,
  type Place,
  sealValue,
  shownOf,
} from './sealed-text.js';
import {
  type KnownValues,
  mapEntries,
  mapFieldsOf,
  mapItems,
  mapSealed,
  mapSecrets,
  mapSentence,
  mapValues,
  type Replace,
} from './secret-walk.js';

/** The columns of a task that people and agents fill freely, and `secrets`. */
export const SECRET_COLUMNS = [
  'title',
  'description',
  'input_context',
  'checkpoint_data',
  'output_result',
  'metadata',
  'secrets',
  'answers',
  'agent',
  'instructions',
  'steps',
  'deliverables',
  'acceptance',
  'acceptance_script',
] as const;

export type SecretColumn = (typeof SECRET_COLUMNS)[number];
export type SecretColumnOfAgent = 'command' | 'secrets';
export type SecretColumnOfProject = 'mcp_servers';
export type SecretColumnOfSchedule = 'tasks';
export type SecretColumnOfTaskTemplate = 'task';

/** One column of one task. */
export interface ColumnOfTask {
  workspace_id: string;
  task_id: string;
  column_name: SecretColumn;
}

/** One column of one agent. */
export interface ColumnOfAgent {
  workspace_id: string;
  agent_id: string;
  column_name: SecretColumnOfAgent;
}

/** One column of one project. */
export interface ColumnOfProject {
  workspace_id: string;
  project_id: string;
  column_name: SecretColumnOfProject;
}

/** The tasks of one schedule. */
export interface ColumnOfSchedule {
  workspace_id: string;
  schedule_id: string;
  column_name: SecretColumnOfSchedule;
}

/** The task of one template. */
export interface ColumnOfTaskTemplate {
  workspace_id: string;
  template_id: string;
  column_name: SecretColumnOfTaskTemplate;
}

/** A column of requests for tasks. */
export type ColumnOfTemplate = ColumnOfSchedule | ColumnOfTaskTemplate;

/** A signing secret, or the previous one. */
export type SigningColumn = 'secret' | 'previous_secret';

/** The signing secret of one webhook, or the previous one. */
export interface ColumnOfWebhook {
  workspace_id: string;
  webhook_id: string;
  column_name: SigningColumn;
}

/** The secret that signs the events of one inbound hook, or the previous one. */
export interface ColumnOfInboundHook {
  workspace_id: string;
  hook_id: string;
  column_name: SigningColumn;
}

/** The key of one way to a provider of models. */
export interface ColumnOfModelProvider {
  workspace_id: string;
  provider_id: string;
  column_name: SigningColumn;
}

/** The secrets of one repository, as one text. */
export interface ColumnOfRepository {
  workspace_id: string;
  repository_id: string;
  column_name: SigningColumn;
}

/** The value of one credential for a host. */
export interface ColumnOfHostCredential {
  workspace_id: string;
  credential_id: string;
  column_name: SigningColumn;
}

export type Column =
  | ColumnOfTask
  | ColumnOfAgent
  | ColumnOfProject
  | ColumnOfTemplate
  | ColumnOfWebhook
  | ColumnOfInboundHook
  | ColumnOfModelProvider
  | ColumnOfHostCredential
  | ColumnOfRepository;

/** The original of a column with secrets, each sealed in its place. */
export type Original<Of extends Column = ColumnOfTask> = Of & { key_id: string; sealed: unknown };

/** The key of originals from before sealing existed. They are not encrypted. */
export const NO_KEY = '00000000-0000-0000-0000-000000000000';

/** Why an original cannot be opened. */
export interface Unreadable {
  kind: 'unreadable';
  column: Column['column_name'];
  /** The key is missing, or the value was altered or belongs to another place. */
  why: 'unknown_key' | 'altered';
  keyId?: string;
}

export type Opened = { kind: 'opened'; value: unknown } | Unreadable;

const SENTENCES = new Set<string>(['title', 'description', 'instructions']);

/** Replaces the secrets of a document for a column. Each column defines its own secrets. */
export function mapColumn(
  name: Column['column_name'],
  document: unknown,
  replace: Replace,
  known?: KnownValues,
): unknown {
  if (name === 'mcp_servers') return mapFieldsOf(document, ['env', 'headers'], replace);
  if (name === 'task') return mapTask(document, replace, known);
  if (name === 'tasks') {
    return mapItems(document as unknown[], (task) => mapTask(task, replace, known));
  }
  if (name === 'secrets') return mapValues(document as Record<string, unknown>, replace);
  if (SENTENCES.has(name) && typeof document === 'string') {
    return mapSentence(document, replace, known);
  }
  return mapSecrets(document, replace, known);
}

/** Each field of a requested task, by the rules of its column. */
function mapTask(task: unknown, replace: Replace, known: KnownValues | undefined): unknown {
  return mapEntries(task as Record<string, unknown>, (field, value) =>
    mapColumn(field as Column['column_name'], value, replace, known),
  );
}

/** True if `mapColumn` would replace anything in a document of these columns. */
export function holdsSecrets(documents: { [Name in SecretColumn]?: unknown }): boolean {
  // Equals no value of a document.
  const found = {};
  const columns = Object.keys(documents) as (keyof typeof documents)[];
  return columns.some((name) => mapColumn(name, documents[name], () => found) !== documents[name]);
}

/**
 * The document with its secrets sealed. Text that only looks sealed is sealed, too, so that nobody
 * can smuggle another task's secret in.
 */
export function sealSecrets(
  key: DataKey,
  document: unknown,
  column: Column,
  values?: KnownValues,
): unknown {
  const place = placeOf(column);
  const seal = (secret: unknown, shown: string) => sealValue(key, secret, place, shown);
  return mapColumn(column.column_name, document, seal, values);
}

/** A value that is a secret as a whole. */
export function sealWhole(key: DataKey, secret: string, column: Column): string {
  return sealValue(key, secret, placeOf(column), '[redacted]');
}

/**
 * The document of an original. The first value that does not open decides.
 *
 * @param key the original's key, if it exists
 * @param replace replaces a secret, instead of the secret itself
 */
export function openOriginal(
  original: Original<Column>,
  key: DataKey | undefined,
  replace: Replace = (secret) => secret,
): Opened {
  const place = placeOf(original);
  let failure: Unreadable | undefined;
  const value = mapSealed(original.sealed, (sealed) => {
    const opened = key && openValue(key, sealed, place);
    if (opened) return replace(opened.value, shownOf(sealed));
    failure ??= unreadable(original.column_name, keyIdOf(sealed), key);
    return sealed;
  });
  return failure ?? { kind: 'opened', value };
}

/** A value that is a secret as a whole. One that is not sealed was altered. */
export function openWhole(original: Original<Column>, key: DataKey | undefined): Opened {
  if (isSealed(original.sealed)) return openOriginal(original, key);
  return unreadable(original.column_name, undefined, key);
}

/**
 * The original under another key.
 *
 * @param to its new column, if it also moves
 */
export function reseal(
  original: Original<Column>,
  old: DataKey | undefined,
  key: DataKey,
  to: Column = original,
): Opened {
  if (original.key_id === NO_KEY) {
    return { kind: 'opened', value: sealSecrets(key, original.sealed, to) };
  }
  const place = placeOf(to);
  return openOriginal(original, old, (secret, shown) => sealValue(key, secret, place, shown));
}

function unreadable(
  column: Column['column_name'],
  keyId: string | undefined,
  key: DataKey | undefined,
): Unreadable {
  const why = keyId === undefined || keyId === key?.id ? 'altered' : 'unknown_key';
  return { kind: 'unreadable', column, why, keyId };
}

function placeOf(column: Column): Place {
  const [table, rowId] = ownerOf(column);
  return {
    // Ids from outside can be in upper case.
    workspaceId: column.workspace_id.toLowerCase(),
    table,
    column: column.column_name,
    rowId: rowId.toLowerCase(),
  };
}

/** The table and id of the row that owns a column. */
export function ownerOf(column: Column): [table: string, id: string] {
  if ('project_id' in column) return ['projects', column.project_id];
  if ('template_id' in column) return ['task_templates', column.template_id];
  if ('schedule_id' in column) return ['schedules', column.schedule_id];
  if ('agent_id' in column) return ['agents', column.agent_id];
  if ('webhook_id' in column) return ['webhooks', column.webhook_id];
  if ('hook_id' in column) return ['inbound_hooks', column.hook_id];
  if ('provider_id' in column) return ['model_providers', column.provider_id];
  if ('credential_id' in column) return ['host_credentials', column.credential_id];
  if ('repository_id' in column) return ['repositories', column.repository_id];
  return ['agent_tasks', column.task_id];
}

export function sentence({ column, why, keyId }: Unreadable): string {
  const field = column.replace(/_[a-z]/, ([, letter = '']) => letter.toUpperCase());
  return why === 'unknown_key'
    ? `A secret in ${field} cannot be opened: its key ${keyId} is not there`
    : `A secret in ${field} cannot be opened: it was altered, or belongs to something else`;
}
