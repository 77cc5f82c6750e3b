import { DroverError, type FieldError } from '#lib/kernel';
import { redactSecrets } from '#lib/secrets/domain';
import type { HookRule } from './rules.js';
import { fillIn, isScalar, PATH, placeholdersIn } from './template.js';

const MAX_BYTES = 65_536;
const MAX_PLACEHOLDERS = 100;
const MAX_CONDITIONS = 20;
const MAX_WANTED = 100;
/** Fields of a task that a template cannot have. */
const REFUSED = ['secrets', 'parentTaskId', 'blocksParent'];

/** Throws `validation_failed` if the value is no body of POST /agent-tasks. */
export type ValidateTask = (task: unknown) => void;

/**
 * @throws DroverError `validation_failed` that names the rule and its error
 */
export function checkRules(rules: readonly HookRule[], validate: ValidateTask): void {
  const errors = rules.flatMap((rule, index) =>
    [...conditionErrors(rule), ...templateErrors(rule, validate)].map(({ field, message }) => ({
      field: `rules[${index}].${field}`,
      message,
    })),
  );
  if (Buffer.byteLength(JSON.stringify(rules)) > MAX_BYTES) {
    errors.push({ field: 'rules', message: 'must be at most 64 KiB together' });
  }
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}

function conditionErrors({ when = {} }: HookRule): FieldError[] {
  const conditions = Object.entries(when);
  if (conditions.length > MAX_CONDITIONS) {
    return [{ field: 'when', message: `must have at most ${MAX_CONDITIONS} conditions` }];
  }
  return conditions.flatMap(([path, wanted]) => {
    if (!PATH.test(path)) return [{ field: 'when', message: `has "${path}", which is no path` }];
    const all: unknown[] = [wanted].flat();
    if (all.length > 0 && all.length <= MAX_WANTED && all.every(isScalar)) return [];
    const message = `must be a string, a number, true or false, or a list of 1 to ${MAX_WANTED}`;
    return [{ field: `when.${path}`, message }];
  });
}

function templateErrors(rule: HookRule, validate: ValidateTask): FieldError[] {
  const { task, subject, text } = rule;
  const paths = placeholdersIn([task, subject, text]);
  const wrong = paths.find((path) => !PATH.test(path));
  if (wrong !== undefined) return [{ field: 'do', message: `has {{${wrong}}}, which is no path` }];
  if (paths.length > MAX_PLACEHOLDERS) {
    return [{ field: 'do', message: `must have at most ${MAX_PLACEHOLDERS} placeholders` }];
  }
  if (rule.do === 'resume_task') {
    return task === undefined ? [] : [{ field: 'task', message: 'is for create_task alone' }];
  }
  if (task === undefined) return [{ field: 'task', message: 'must be there for create_task' }];
  return taskErrors(task, validate);
}

function taskErrors(task: Record<string, unknown>, validate: ValidateTask): FieldError[] {
  const refused = REFUSED.filter((name) => name in task);
  if (refused.length > 0) {
    const message = 'is not for the task of a hook';
    return refused.map((name) => ({ field: `task.${name}`, message }));
  }
  if (redactSecrets(task) !== task) {
    return [{ field: 'task', message: 'must hold no secret: rules are shown to all admins' }];
  }
  return ofTask(() => validate(fillIn(task, () => 'x')));
}

/** The refusals of `work`, with paths inside the rule's task. */
export function ofTask(work: () => void): FieldError[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof DroverError) || error.code !== 'validation_failed') throw error;
    return (error.extras.errors ?? []).map(({ field, message }) => ({
      field: `task.${field}`,
      message,
    }));
  }
}
