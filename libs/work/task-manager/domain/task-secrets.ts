import { cut, DroverError } from '#lib/kernel';
import { secretsIn, secretsInSentence, SecretValues } from '#lib/secrets/domain';

/** The fields of a task with free text, by the names that they share with their columns. */
export const SECRET_FIELDS = ['title', 'description', 'metadata', 'secrets'] as const;

interface WrittenFields {
  title: string;
  description?: string | null;
  metadata?: unknown;
  secrets?: unknown;
  inputContext?: unknown;
  agent?: unknown;
  instructions?: string | null;
}

/** The secrets that these fields mark as such. They are hidden everywhere else. */
export function secretValuesOf(...tasks: readonly WrittenFields[]): SecretValues {
  return SecretValues.of(tasks.flatMap(namedIn));
}

function namedIn({ title, description, instructions, ...documents }: WrittenFields) {
  const { metadata, secrets, inputContext, agent } = documents;
  const sentences = [title, description ?? '', instructions ?? ''].flatMap(secretsInSentence);
  return [...secretsIn({ metadata, secrets, inputContext, agent }), ...sentences];
}

/** The lengths of the columns, in characters. A short secret is longer when it is hidden. */
const MAX_TITLE = 255;
const MAX_TAG = 100;

/** The public form of a title, as its column holds it. */
export function cutTitle(title: string): string {
  return [...title].slice(0, MAX_TITLE).join('');
}

/** True if its end may be missing, and the end of a hidden secret with it. */
export function mayBeCut(title: string): boolean {
  return [...title].length === MAX_TITLE;
}

/** Tags without the values. */
export function hiddenTags(tags: readonly string[], values: SecretValues): string[] {
  return [...new Set(tags.map((tag) => cut(values.redact(tag), MAX_TAG)))];
}

/**
 * These fields route tasks to agents, so nothing in them can be hidden.
 *
 * @param values further secrets
 * @throws DroverError `validation_failed`
 */
export function refuseSecretRouting(
  task: { taskType: string; requiredCapabilities: readonly string[]; secrets: unknown },
  prefix: string,
  values = SecretValues.NONE,
): void {
  const all = values.and(SecretValues.in({ secrets: task.secrets }));
  if (all.isEmpty) return;
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
