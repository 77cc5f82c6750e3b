import {
  type DataKey,
  isSealed,
  keyIdOf,
  openValue,
  type Place,
  sealValue,
  shownOf,
} from './sealed-text.js';
import { type Secret, secretsIn, type SecretValues } from './secret-values.js';
import { mapSealed, mapSecrets, REDACTED } from './secret-walk.js';

/** The columns of a task that people and agents fill freely. */
export const SEALED_COLUMNS = [
  'input_context',
  'checkpoint_data',
  'output_result',
  'metadata',
] as const;

export type SealedColumn = (typeof SEALED_COLUMNS)[number];

/** A task, or the part of it that was read. */
export type SealedRow = { workspace_id: string; id: string } & {
  [Column in SealedColumn]?: unknown;
};

export type DataKeys = ReadonlyMap<string, DataKey>;

/** Why a task's secrets can not be had. */
export interface Unreadable {
  kind: 'unreadable';
  column: SealedColumn;
  /** The key is not there; or the value was altered, or belongs to another place. */
  why: 'unknown_key' | 'altered';
  keyId?: string;
}

type Columns = { [Column in SealedColumn]?: unknown };

export type Opened = { kind: 'opened'; columns: Columns } | Unreadable;

/** Where a column of a task stands, as its seals say. */
export function placeOf(task: { workspace_id: string; id: string }, column: SealedColumn): Place {
  // Ids may come from outside, in capitals.
  const workspaceId = task.workspace_id.toLowerCase();
  return { workspaceId, table: 'agent_tasks', column, rowId: task.id.toLowerCase() };
}

/**
 * Seals what is secret in a value from outside. One that only looks sealed is sealed as well, so that
 * nobody can smuggle in another task's.
 */
export function sealSecrets(
  key: DataKey,
  value: unknown,
  place: Place,
  values?: SecretValues,
): unknown {
  const seal = (secret: unknown, shown: string) =>
    sealValue(key, secret, place, isSealed(secret) ? REDACTED : shown);
  return mapSecrets(value, seal, values);
}

/** Whether a stored value has anything sealed in it. */
export function holdsSealed(value: unknown): boolean {
  return keyIdsIn(value).size > 0;
}

/** The ids of all keys that a task's columns need; '' for a damaged value. */
export function keyIdsOf(row: SealedRow): Set<string> {
  return new Set(SEALED_COLUMNS.flatMap((column) => [...keyIdsIn(row[column])]));
}

function keyIdsIn(value: unknown): Set<string> {
  const ids = new Set<string>();
  mapSealed(value, (sealed) => {
    ids.add(keyIdOf(sealed) ?? '');
    return sealed;
  });
  return ids;
}

/** Opens everything that is sealed in the columns that are there, or nothing. */
export function openSecrets(row: SealedRow, keys: DataKeys): Opened {
  return mapColumns(row, keys, (_, value) => value);
}

/** All secrets in the columns that are there, sealed or not, as far as they open. */
export function secretsOf(
  row: SealedRow,
  keys: DataKeys,
): { secrets: Secret[]; unreadable?: Unreadable } {
  const secrets: Secret[] = [];
  const outcome = mapColumns(row, keys, (sealed, value) => {
    secrets.push([value, shownOf(sealed)]);
    return null;
  });
  if (outcome.kind === 'unreadable') return { secrets, unreadable: outcome };
  return { secrets: [...secrets, ...secretsIn(outcome.columns)] };
}

/** Seals anew, under `key`, whatever is sealed, and what is secret and not sealed yet. */
export function sealAnew(row: SealedRow, key: DataKey, keys: DataKeys): Opened {
  const outcome = mapColumns(row, keys, (sealed, value, place) =>
    sealValue(key, value, place, shownOf(sealed)),
  );
  if (outcome.kind === 'unreadable') return outcome;
  const columns = Object.entries(outcome.columns).map(([name, value]) => {
    const place = placeOf(row, name as SealedColumn);
    const seal = (secret: unknown, shown: string) =>
      isSealed(secret) ? secret : sealValue(key, secret, place, shown);
    return [name, mapSecrets(value, seal)];
  });
  return { kind: 'opened', columns: Object.fromEntries(columns) as Columns };
}

/** The first thing that does not open decides. */
function mapColumns(
  row: SealedRow,
  keys: DataKeys,
  replace: (sealed: string, value: unknown, place: Place) => unknown,
): Opened {
  let failure: Unreadable | undefined;
  const columns: Columns = {};
  for (const column of SEALED_COLUMNS) {
    if (row[column] === undefined) continue;
    const place = placeOf(row, column);
    columns[column] = mapSealed(row[column], (sealed) => {
      const opened = open(sealed, keys, place);
      if ('value' in opened) return replace(sealed, opened.value, place);
      failure ??= { kind: 'unreadable', column, ...opened };
      return sealed;
    });
  }
  return failure ?? { kind: 'opened', columns };
}

function open(
  sealed: string,
  keys: DataKeys,
  place: Place,
): { value: unknown } | Pick<Unreadable, 'why' | 'keyId'> {
  const keyId = keyIdOf(sealed);
  if (keyId === undefined) return { why: 'altered' };
  const key = keys.get(keyId);
  if (!key) return { why: 'unknown_key', keyId };
  return openValue(key, sealed, place) ?? { why: 'altered', keyId };
}
