import { DroverError } from '#lib/kernel';
import { secretsIn, secretsInSentence, SecretValues } from '#lib/secrets/domain';

/** What of a task people write freely, by the names that its fields share with their columns. */
export const SECRET_FIELDS = ['title', 'description', 'metadata', 'secrets'] as const;

interface WrittenFields {
  title: string;
  description?: string | null;
  metadata: unknown;
  secrets: unknown;
  inputContext?: unknown;
}

/** The secrets that are named as such somewhere in these: they are hidden wherever else they stand. */
export function secretValuesOf(...tasks: readonly WrittenFields[]): SecretValues {
  return SecretValues.of(tasks.flatMap(namedIn));
}

function namedIn({ title, description, metadata, secrets, inputContext }: WrittenFields) {
  const sentences = [title, description ?? ''].flatMap(secretsInSentence);
  return [...secretsIn({ metadata, secrets, inputContext }), ...sentences];
}

/** Tags without the values. */
export function hiddenTags(tags: readonly string[], values: SecretValues): string[] {
  return [...new Set(tags.map((tag) => values.hide(tag)))];
}

/**
 * Agents are found by these fields, so that nothing in them can be hidden.
 *
 * @param values secrets as well
 * @throws DroverError `validation_failed`
 */
export function refuseSecretRouting(
  task: { taskType: string; requiredCapabilities: readonly string[]; secrets: unknown },
  prefix: string,
  values = SecretValues.NONE,
): void {
  const all = values.and(SecretValues.in({ secrets: task.secrets }));
  const holds = (text: string) => all.hide(text) !== text;
  const { taskType, requiredCapabilities } = task;
  const fields = [
    ...(holds(taskType) ? ['taskType'] : []),
    ...(requiredCapabilities.some(holds) ? ['requiredCapabilities'] : []),
  ];
  if (fields.length === 0) return;
  const message = 'must not contain a value of secrets';
  const errors = fields.map((field) => ({ field: `${prefix}${field}`, message }));
  throw new DroverError('validation_failed', { errors });
}
