import { type DataKey, keyIdOf, openValue, type Place, sealValue, shownOf } from './sealed-text.js';
import { mapSealed, mapSecrets } from './secret-walk.js';
import type { SecretValues } from './secret-values.js';

/** The columns of a task that people and agents fill freely. */
export const SECRET_COLUMNS = [
  'input_context',
  'checkpoint_data',
  'output_result',
  'metadata',
] as const;

export type SecretColumn = (typeof SECRET_COLUMNS)[number];

/** One column of one task. */
export interface ColumnOfTask {
  workspace_id: string;
  task_id: string;
  column_name: SecretColumn;
}

/** The original of a column that held secrets, with each of them sealed in its place. */
export interface Original extends ColumnOfTask {
  key_id: string;
  sealed: unknown;
}

/** The key of originals from before there was any sealing: they are in clear. */
export const NO_KEY = '00000000-0000-0000-0000-000000000000';

/** Why an original cannot be had. */
export interface Unreadable {
  kind: 'unreadable';
  column: SecretColumn;
  /** The key is not there; or the value was altered, or belongs to another place. */
  why: 'unknown_key' | 'altered';
  keyId?: string;
}

export type Opened = { kind: 'opened'; value: unknown } | Unreadable;

/**
 * The document with its secrets sealed. A text that only looks sealed is sealed as well, so that nobody
 * can smuggle in another task's.
 */
export function sealSecrets(
  key: DataKey,
  document: unknown,
  column: ColumnOfTask,
  values?: SecretValues,
): unknown {
  const place = placeOf(column);
  const seal = (secret: unknown, shown: string) => sealValue(key, secret, place, shown);
  return mapSecrets(document, seal, values);
}

/**
 * The document of an original; the first value that does not open decides.
 *
 * @param key the key that the original names, if there is one
 * @param replace what to put in the place of a secret instead of the secret
 */
export function openOriginal(
  original: Original,
  key: DataKey | undefined,
  replace: (secret: unknown, shown: string) => unknown = (secret) => secret,
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

/** The original under another key. */
export function reseal(original: Original, old: DataKey | undefined, key: DataKey): Opened {
  if (original.key_id === NO_KEY) {
    return { kind: 'opened', value: sealSecrets(key, original.sealed, original) };
  }
  const place = placeOf(original);
  return openOriginal(original, old, (secret, shown) => sealValue(key, secret, place, shown));
}

function unreadable(
  column: SecretColumn,
  keyId: string | undefined,
  key: DataKey | undefined,
): Unreadable {
  const why = keyId === undefined || keyId === key?.id ? 'altered' : 'unknown_key';
  return { kind: 'unreadable', column, why, keyId };
}

function placeOf({ workspace_id, task_id, column_name }: ColumnOfTask): Place {
  return {
    // Ids may come from outside, in capitals.
    workspaceId: workspace_id.toLowerCase(),
    table: 'agent_tasks',
    column: column_name,
    rowId: task_id.toLowerCase(),
  };
}
