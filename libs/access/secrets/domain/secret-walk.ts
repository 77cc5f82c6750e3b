import { looksSecret, redactText, saysNothing } from '#lib/kernel';
import { isSealed } from './sealed-text.js';

/** The text in place of a secret. */
export const REDACTED = '[redacted]';

/**
 * Returns the replacement of a secret.
 *
 * @param shown the public form; for a text that contains a secret, the rest
 */
export type Replace = (secret: unknown, shown: string) => unknown;

/** Values that are known secrets, whatever they look like. */
export interface KnownValues {
  isEmpty: boolean;
  /** Replaces the values by `[redacted]`. */
  hide: (text: string) => string;
}

/**
 * Replaces the secrets of a JSON value at every depth. A value without secrets is returned itself,
 * not copied.
 *
 * Secrets are the values of fields with a secret's name, of `{name: 'API_KEY', value: …}` pairs, of
 * `API_KEY=…` and `--api-key …` in argument lists, parts of a text that look like a token, and
 * texts that look sealed. Numbers under a name that ends in `tokens` are not, because that name
 * counts; nor are null, true and false.
 *
 * @param known further secret values, inside of any text, as a number, and in the name of a field,
 *   which makes the whole object secret
 */
export function mapSecrets(value: unknown, replace: Replace, known?: KnownValues): unknown {
  return mapAny(value, replace, known === undefined || known.isEmpty ? undefined : known);
}

/** A copy of a JSON value for people, with secrets replaced at every depth. See `mapSecrets`. */
export function redactSecrets(value: unknown, values?: KnownValues): unknown {
  return mapSecrets(value, (_, shown) => shown, values);
}

/** If a field's name is a secret, nothing of the object can be shown, but it stays an object. */
export function asObject(shown: unknown): Record<string, unknown> {
  return typeof shown === 'string' ? { redacted: shown } : (shown as Record<string, unknown>);
}

/** Replaces the secrets of a sentence. Unlike in arguments, a word and a colon prove nothing. */
export function mapSentence(text: string, replace: Replace, known?: KnownValues): unknown {
  const shown = redactText(known ? known.hide(text) : text);
  return shown === text ? text : replace(text, shown);
}

/** Replaces each value of an object that contains only secrets. */
export function mapValues(secrets: Record<string, unknown>, replace: Replace): unknown {
  return mapEntries(secrets, (_, secret) => replace(secret, REDACTED));
}

/** Replaces each value in these fields of the objects of a list. */
export function mapFieldsOf(list: unknown, fields: readonly string[], replace: Replace): unknown {
  return mapItems(listOf(list), (item) =>
    mapEntries(item as Record<string, unknown>, (name, child) =>
      fields.includes(name) ? mapValues(child as Record<string, unknown>, replace) : child,
    ),
  );
}

/** Whether the public form may hide something. */
export function showsSecret(shown: unknown): boolean {
  return shown !== undefined && JSON.stringify(shown).includes(REDACTED);
}

/**
 * Puts the stored value in place of each "[redacted]" that a client sends back, so that reading,
 * changing one field and writing does not destroy the others. A value that was hidden because of
 * the name beside it is restored only beside that name: under another it would be visible.
 *
 * @param shown what the client was shown in place of `current`
 */
export function keepHidden(given: unknown, current: unknown, shown: unknown): unknown {
  if (typeof given === 'string') return given === shown ? current : given;
  if (Array.isArray(given)) {
    const [now, then] = [listOf(current), listOf(shown)];
    return given.map((item, index) => {
      const moved = isSecretOption(then[index - 1]) && given[index - 1] !== then[index - 1];
      return moved && item === REDACTED ? item : keepHidden(item, now[index], then[index]);
    });
  }
  if (!isObject(given)) return given;
  const [now, then] = [new Map(entriesOf(current)), new Map(entriesOf(shown))];
  const renamed = isSecretPair(shown) && pairNameOf(given) !== pairNameOf(shown);
  const restored = Object.entries(given).map(([key, child]) => [
    key,
    renamed && key === 'value' ? child : keepHidden(child, now.get(key), then.get(key)),
  ]);
  return Object.fromEntries(restored) as unknown;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Replaces sealed values and examines nothing else. A value without any is returned itself. */
export function mapSealed(value: unknown, replace: (sealed: string) => unknown): unknown {
  if (typeof value === 'string') return isSealed(value) ? replace(value) : value;
  if (Array.isArray(value)) return mapItems(value, (item) => mapSealed(item, replace));
  if (value === null || typeof value !== 'object') return value;
  return mapEntries(value as Record<string, unknown>, (_, child) => mapSealed(child, replace));
}

function mapAny(value: unknown, replace: Replace, known: KnownValues | undefined): unknown {
  if (typeof value === 'string') return mapText(value, replace, known);
  if (typeof value === 'number') return mapNumber(value, replace, known);
  if (Array.isArray(value)) return mapList(value, replace, known);
  if (value === null || typeof value !== 'object') return value;
  return mapFields(value as Record<string, unknown>, replace, known);
}

function mapFields(
  object: Record<string, unknown>,
  replace: Replace,
  known: KnownValues | undefined,
): unknown {
  if (known && Object.keys(object).some((name) => known.hide(name) !== name)) {
    return replace(object, REDACTED);
  }
  const isPair = isSecretPair(object);
  return mapEntries(object, (name, child) => {
    const secret = looksSecret(name) || (isPair && name === 'value');
    return secret ? mapHidden(name, child, replace) : mapAny(child, replace, known);
  });
}

function mapHidden(name: string, value: unknown, replace: Replace): unknown {
  if (saysNothing(name, value)) return value;
  return replace(value, REDACTED);
}

function mapNumber(value: number, replace: Replace, known: KnownValues | undefined): unknown {
  const text = String(value);
  return known && known.hide(text) !== text ? replace(value, REDACTED) : value;
}

function mapList(
  list: readonly unknown[],
  replace: Replace,
  known: KnownValues | undefined,
): unknown {
  return mapItems(list, (item, index) => {
    const isArgument = typeof item === 'string' && !item.startsWith('-');
    const secret = isArgument && isSecretOption(list[index - 1]);
    return secret ? replace(item, REDACTED) : mapAny(item, replace, known);
  });
}

/** `--api-key`: the next argument is a secret. */
function isSecretOption(item: unknown): boolean {
  const option = typeof item === 'string' ? /^--?([\w-]+)$/.exec(item)?.[1] : undefined;
  return option !== undefined && looksSecret(option);
}

/** `{name: 'API_KEY', value: …}` */
function isSecretPair(object: unknown): boolean {
  const name = isObject(object) ? pairNameOf(object) : undefined;
  return typeof name === 'string' && looksSecret(name);
}

function pairNameOf(object: unknown): unknown {
  return isObject(object) ? (object['name'] ?? object['key']) : undefined;
}

const ASSIGNMENT = /^(-{0,2}([A-Za-z][\w.-]*)\s*[=:]\s*)\S/;

function mapText(text: string, replace: Replace, known: KnownValues | undefined): unknown {
  const hide = (shown: string) => (known ? known.hide(shown) : shown);
  if (isSealed(text)) return replace(text, REDACTED);
  const [, prefix, name] = ASSIGNMENT.exec(text) ?? [];
  if (prefix && name && looksSecret(name)) return replace(text, `${hide(prefix)}${REDACTED}`);
  // The values first, because a pattern can take a part of one and leave the rest.
  const shown = redactText(hide(text));
  return shown === text ? text : replace(text, shown);
}

/** A list whose items do not change is returned itself. */
export function mapItems(
  list: readonly unknown[],
  map: (item: unknown, index: number) => unknown,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  list.forEach((item, index) => {
    const mapped = map(item, index);
    if (mapped === item) return;
    copy ??= [...list];
    copy[index] = mapped;
  });
  return copy ?? list;
}

/** An object whose values do not change is returned itself. */
export function mapEntries(
  object: Record<string, unknown>,
  map: (name: string, child: unknown) => unknown,
): Record<string, unknown> {
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(object)) {
    const mapped = map(name, object[name]);
    if (mapped === object[name]) continue;
    changed ??= new Map(Object.entries(object));
    changed.set(name, mapped);
  }
  // Not by assignment, because a field can be called __proto__.
  return changed ? Object.fromEntries(changed) : object;
}
