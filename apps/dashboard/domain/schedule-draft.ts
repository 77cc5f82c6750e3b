import type { components } from '#lib/api-client';
import { FormError, toTaskDraft } from './task-draft.js';

type NewSchedule = components['schemas']['CreateSchedule'];
type Schedule = components['schemas']['Schedule'];
type ChangeSchedule = components['schemas']['ChangeSchedule'];
type Rule = components['schemas']['PreviewSchedule'];

/** Reads the rule of a schedule's form: a cron expression, or an interval if there is none. */
export function toRule(form: FormData): Rule {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const cron = text('cron');
  if (cron === '') return { everySeconds: Number(text('everySeconds')) };
  return { cron, ...(text('timeZone') !== '' && { timeZone: text('timeZone') }) };
}

/** Builds the request for a new schedule of one task. @throws FormError if a field is invalid JSON */
export function toScheduleDraft(form: FormData): NewSchedule {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const { title, ...task } = toTaskDraft(form);
  const tasks = [title === '' ? task : { title, ...task }];
  return { name: text('name'), tasks, ...toRule(form), ...toPolicy(form) };
}

function toPolicy(form: FormData) {
  return {
    overlap: form.get('overlap') as NonNullable<NewSchedule['overlap']>,
    missed: form.get('missed') as NonNullable<NewSchedule['missed']>,
    missedLimit: Number(form.get('missedLimit')),
    jitterSeconds: Number(form.get('jitterSeconds')),
  };
}

/**
 * Builds the change of a schedule. The rule is left out unless it changed, because a new rule counts
 * from now on.
 *
 * @throws FormError if the tasks are no JSON list
 */
export function toScheduleChange(form: FormData, schedule: Schedule): ChangeSchedule {
  const rule = toRule(form);
  const { cron, timeZone, everySeconds } = schedule;
  const isSame =
    cron === null
      ? rule.everySeconds === everySeconds
      : rule.cron === cron && (rule.timeZone ?? 'UTC') === timeZone;
  return {
    name: String(form.get('name')).trim(),
    ...(!isSame && rule),
    ...toPolicy(form),
    tasks: parseTasks(String(form.get('tasks'))),
  };
}

function parseTasks(json: string): NewSchedule['tasks'] {
  try {
    const tasks: unknown = JSON.parse(json);
    if (Array.isArray(tasks)) return tasks as NewSchedule['tasks'];
  } catch {
    // The error below says the same.
  }
  throw new FormError('The tasks must be a JSON list, as in POST /agent-tasks/batch.', 'tasks');
}
