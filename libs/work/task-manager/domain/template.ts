import { type FieldError, redactText } from '#lib/kernel';
import { REDACTED, type SecretValues } from '#lib/secrets/domain';

/** The stored request for a task, whose title can be absent. Its secrets can be hidden. */
export type TaskTemplate = Record<string, unknown>;

/** The request as the database stores it: without absent fields. */
export function toTemplate(task: object): TaskTemplate {
  return JSON.parse(JSON.stringify(task)) as TaskTemplate;
}

/**
 * The secrets of a template that only have their public form.
 *
 * @param path the place of the task in the request
 */
export function unknownSecrets({ secrets }: TaskTemplate, path: string): FieldError[] {
  const hidden = Object.entries(secrets ?? {}).filter(([, value]) => value === REDACTED);
  return hidden.map(([name]) => ({
    field: `${path}.secrets.${name}`,
    message: `must be the secret itself: ${REDACTED} hides none here`,
  }));
}

/** A name, which everybody sees, with one of these secrets or something that looks like one. */
export function secretsInName(name: string, values: SecretValues): FieldError[] {
  if (redactText(values.hide(name)) === name) return [];
  return [{ field: 'name', message: 'must hold no secret: everybody sees it' }];
}
