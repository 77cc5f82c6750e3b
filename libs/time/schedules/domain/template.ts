import type { FieldError } from '#lib/kernel';
import { redactSecrets } from '#lib/secrets/domain';

const MAX_BYTES = 262_144;

/** Why these tasks cannot be a template. Templates are stored and shown in clear. */
export function templateErrors(tasks: readonly object[]): FieldError[] {
  const errors = tasks.flatMap((task, index) =>
    redactSecrets(task) === task
      ? []
      : [
          {
            field: `tasks[${index}]`,
            message: 'must hold no secret: schedules are shown in clear',
          },
        ],
  );
  if (Buffer.byteLength(JSON.stringify(tasks)) > MAX_BYTES) {
    errors.push({ field: 'tasks', message: 'must be at most 256 KiB together' });
  }
  return errors;
}
