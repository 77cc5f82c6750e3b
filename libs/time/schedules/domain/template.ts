import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '#lib/kernel';
import { hiddenPlaces, keepHidden, type SecretValues } from '#lib/secrets/domain';
import { secretsInTexts, type TaskTemplate, unknownSecrets } from '#lib/task-manager/domain';

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
  const errors = tasks.flatMap((task, index) =>
    unknownSecrets(task, `tasks[${index}]`).map(({ field, message }) => ({
      field,
      message: `${message}. A task that moves keeps its values only with the ref that it had before`,
    })),
  );
  errors.push(...secretsInTexts({ name }, values));
  if (Buffer.byteLength(JSON.stringify(tasks)) > MAX_BYTES) {
    errors.push({ field: 'tasks', message: 'must be at most 256 KiB together' });
  }
  return errors;
}

/**
 * Puts the secrets of a schedule in place of each "[redacted]" that a client sends back. A task
 * with a `ref` is the one that had it before. Others are found by their position, unless another
 * task can have moved there: its "[redacted]" stays, and `templateErrors` reports it.
 *
 * @param shown what the client was shown in place of `current`
 */
export function keepSecrets(
  given: readonly TaskTemplate[],
  current: readonly TaskTemplate[],
  shown: readonly TaskTemplate[],
): TaskTemplate[] {
  const places = shown.map((known) => new Set(hiddenPlaces(known)));
  /** True for the shown task of this position, changed or not, that can be no other. */
  function isInPlace(task: TaskTemplate, index: number): boolean {
    if (given.length !== shown.length) return false;
    if (shown.length === 1 || isDeepStrictEqual(task, shown[index])) return true;
    const own = hiddenPlaces(task);
    const candidates = shown.flatMap(({ title, taskType }, known) =>
      title === task['title'] &&
      taskType === task['taskType'] &&
      own.every((place) => places[known]?.has(place))
        ? [known]
        : [],
    );
    return candidates.length === 1 && candidates[0] === index;
  }
  return given.map((task, index) => {
    const { ref } = task;
    const isSame = (known: TaskTemplate, place: number) =>
      ref === undefined ? place === index && isInPlace(task, index) : known['ref'] === ref;
    const at = shown.findIndex(isSame);
    return keepHidden(task, current[at], shown[at]) as TaskTemplate;
  });
}
