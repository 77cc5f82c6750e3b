import type { FieldError } from '#lib/kernel';
import { keepHidden, type SecretValues } from '#lib/secrets/domain';
import { secretsInName, type TaskTemplate, unknownSecrets } from '#lib/task-manager/domain';

const MAX_BYTES = 262_144;

/**
 * Why these tasks cannot be those of a schedule.
 *
 * @param values the secrets of the tasks
 */
export function templateErrors(
  name: string,
  tasks: readonly TaskTemplate[],
  values: SecretValues,
): FieldError[] {
  const errors = tasks.flatMap((task, index) => unknownSecrets(task, `tasks[${index}]`));
  errors.push(...secretsInName(name, values));
  if (Buffer.byteLength(JSON.stringify(tasks)) > MAX_BYTES) {
    errors.push({ field: 'tasks', message: 'must be at most 256 KiB together' });
  }
  return errors;
}

/**
 * Puts the secrets of a schedule in place of each "[redacted]" that a client sends back. A task with
 * a `ref` is the one that had it before; others are found by their position.
 *
 * @param shown what the client was shown in place of `current`
 */
export function keepSecrets(
  given: readonly TaskTemplate[],
  current: readonly TaskTemplate[],
  shown: readonly TaskTemplate[],
): TaskTemplate[] {
  return given.map((task, index) => {
    const { ref } = task;
    const at = ref === undefined ? index : shown.findIndex((known) => known['ref'] === ref);
    return keepHidden(task, current[at], shown[at]) as TaskTemplate;
  });
}
