import type { components } from '#lib/api-client';
import { parseInput } from './task-draft.js';

type NewSchedule = components['schemas']['CreateSchedule'];
type Rule = components['schemas']['PreviewSchedule'];

/** Reads the rule of a schedule's form: a cron expression, or an interval if there is none. */
export function toRule(form: FormData): Rule {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const cron = text('cron');
  if (cron === '') return { everySeconds: Number(text('everySeconds')) };
  return { cron, ...(text('timeZone') !== '' && { timeZone: text('timeZone') }) };
}

/** Builds the request for a new schedule of one task. @throws FormError if the input is invalid JSON */
export function toScheduleDraft(form: FormData): NewSchedule {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const input = parseInput(text('input'), 'input');
  const command = text('command');
  const inputContext = command === '' ? input : { ...input, command: ['sh', '-c', command] };
  const task = {
    taskType: text('taskType'),
    ...(text('description') !== '' && { description: text('description') }),
    ...(inputContext && { inputContext }),
  };
  return {
    name: text('name'),
    tasks: [task],
    ...toRule(form),
    overlap: text('overlap') as NonNullable<NewSchedule['overlap']>,
    missed: text('missed') as NonNullable<NewSchedule['missed']>,
  };
}
