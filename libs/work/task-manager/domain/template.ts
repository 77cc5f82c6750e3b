import type { FieldError } from '#lib/kernel';
import { HIDES_NOTHING, hiddenPlaces, type SecretValues } from '#lib/secrets/domain';

/** The stored request for a task, whose title can be absent. Its secrets can be hidden. */
export type TaskTemplate = Record<string, unknown>;

/** The request as the database stores it: without absent fields. */
export function toTemplate(task: object): TaskTemplate {
  return JSON.parse(JSON.stringify(task)) as TaskTemplate;
}

/**
 * Runs would get the public form of a secret that could not be restored.
 *
 * @param path the place of the task in the request
 */
export function unknownSecrets(task: TaskTemplate, path = ''): FieldError[] {
  return hiddenPlaces(task, path).map((field) => ({ field, message: HIDES_NOTHING }));
}

/** Texts that everybody sees, with one of these secrets or something that looks like one. */
export function secretsInTexts(
  texts: { name: string; description?: string | null },
  values: SecretValues,
): FieldError[] {
  const found = Object.entries(texts).filter(([, text]) => text && values.redact(text) !== text);
  return found.map(([field]) => ({ field, message: 'must hold no secret: everybody sees it' }));
}
