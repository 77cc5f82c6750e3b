import { type FieldError, redactText } from '#lib/kernel';
import { keepHidden, REDACTED, type SecretValues } from '#lib/secrets/domain';

const MAX_BYTES = 262_144;

/**
 * Why these tasks cannot be a template.
 *
 * @param values the secrets of the tasks
 */
export function templateErrors(
  name: string,
  tasks: readonly object[],
  values: SecretValues,
): FieldError[] {
  const errors = tasks.flatMap(hiddenSecrets);
  if (redactText(values.hide(name)) !== name) {
    errors.push({ field: 'name', message: 'must hold no secret: everybody sees it' });
  }
  if (Buffer.byteLength(JSON.stringify(tasks)) > MAX_BYTES) {
    errors.push({ field: 'tasks', message: 'must be at most 256 KiB together' });
  }
  return errors;
}

/** A client sent the public form of a secret that the schedule does not have. */
function hiddenSecrets(task: { secrets?: Record<string, string> }, index: number): FieldError[] {
  const hidden = Object.entries(task.secrets ?? {}).filter(([, value]) => value === REDACTED);
  return hidden.map(([name]) => ({
    field: `tasks[${index}].secrets.${name}`,
    message: `must be the secret itself: ${REDACTED} hides none here`,
  }));
}

/**
 * Puts the secrets of a schedule in place of each "[redacted]" that a client sends back. A task with
 * a `ref` is the one that had it before; others are found by their position.
 *
 * @param shown what the client was shown in place of `current`
 */
export function keepSecrets<Task extends object>(
  given: readonly Task[],
  current: readonly object[],
  shown: readonly { ref?: unknown }[],
): Task[] {
  return given.map((task: Task & { ref?: unknown }, index) => {
    const { ref } = task;
    const at = ref === undefined ? index : shown.findIndex((known) => known.ref === ref);
    return keepHidden(task, current[at], shown[at]) as Task;
  });
}
