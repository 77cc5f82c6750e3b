import type { FieldError } from '#lib/kernel';
import { REDACTED, type SecretValues } from '#lib/secrets/domain';

/** The stored request for a task, whose title can be absent. Its secrets can be hidden. */
export type TaskTemplate = Record<string, unknown>;

/** The request as the database stores it: without absent fields. */
export function toTemplate(task: object): TaskTemplate {
  return JSON.parse(JSON.stringify(task)) as TaskTemplate;
}

/** A value in its public form, also as a variable in a list of arguments. */
const HIDDEN = /^(?:[^\s=]+=)?\[redacted\]$/;

/** The places of the values of a task that only have their public form. */
export function hiddenPlaces(value: unknown, path = ''): string[] {
  if (typeof value === 'string') return HIDDEN.test(value) ? [path] : [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => hiddenPlaces(item, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    hiddenPlaces(child, path === '' ? name : `${path}.${name}`),
  );
}

/**
 * Runs would get the public form of a secret that could not be restored.
 *
 * @param path the place of the task in the request
 */
export function unknownSecrets(task: TaskTemplate, path = ''): FieldError[] {
  const message = `must be the value itself: ${REDACTED} hides none here`;
  return hiddenPlaces(task, path).map((field) => ({ field, message }));
}

/** Texts that everybody sees, with one of these secrets or something that looks like one. */
export function secretsInTexts(
  texts: { name: string; description?: string | null },
  values: SecretValues,
): FieldError[] {
  const found = Object.entries(texts).filter(([, text]) => text && values.redact(text) !== text);
  return found.map(([field]) => ({ field, message: 'must hold no secret: everybody sees it' }));
}
