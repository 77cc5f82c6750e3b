import type { components } from '#lib/api-client';
import { FormError } from './task-draft.js';

type Webhook = components['schemas']['Webhook'];
type CreateWebhook = components['schemas']['CreateWebhook'];
type Excepted = NonNullable<components['schemas']['QuietHours']['exceptTypes']>;
type Days = NonNullable<components['schemas']['QuietHours']['days']>;

export const DAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;

export const WEBHOOK_KINDS: Record<Webhook['kind'], string> = {
  signed: 'Program (signed JSON)',
  slack: 'Slack',
  discord: 'Discord',
  email: 'E-mail',
};

/** The events that a form for people offers. */
export const EVENTS_FOR_PEOPLE: Record<string, string> = {
  'task.status_changed.FAILED': 'A task failed for good',
  'question.asked': 'An agent asks a question',
  'change.review_requested': 'A change waits for a review',
  'change.review_overdue': 'A review takes too long',
  'change.obstructed': 'A change has an obstacle',
  'budget.alert': 'A budget reached a threshold',
  'agent.status_changed.ERROR': 'An agent stopped sending heartbeats',
  'schedule.due_time_failed': 'A schedule could not create its tasks',
  'task.status_changed': 'Every change of a task',
};
export const USUAL_EVENTS = Object.keys(EVENTS_FOR_PEOPLE).slice(0, -1);

const split = (text: string) => text.split(/[,\s]+/).filter(Boolean);

/** Reads the fields that a webhook of this kind has. @throws FormError if quiet hours are not whole */
export function readWebhook(form: FormData, kind: Webhook['kind']): Omit<CreateWebhook, 'kind'> {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const url = text('url');
  const common = {
    // The server refuses unknown names and lists the known ones.
    events: [
      ...form.getAll('event').map(String),
      ...split(text('events')),
    ] as CreateWebhook['events'],
    description: text('description') || null,
    ...(url !== '' && { url }),
  };
  if (kind === 'signed') return { ...common, hubSignature: form.get('hubSignature') === 'on' };
  const digest = text('digestSeconds');
  const digestMax = text('digestMax');
  return {
    ...common,
    ...(kind === 'email' && { recipients: form.getAll('recipients').map(String) }),
    template: text('template') || null,
    ...(digest !== '' && { digestSeconds: Number(digest) }),
    ...(digestMax !== '' && { digestMax: Number(digestMax) }),
    quietHours: readQuietHours(form),
  };
}

function readQuietHours(form: FormData): CreateWebhook['quietHours'] {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const [from, to] = [text('quietFrom'), text('quietTo')];
  if (from === '' && to === '') return null;
  if (from === '' || to === '')
    throw new FormError('Quiet hours have a begin and an end. Enter both, or neither.', 'quietTo');
  const days = form.getAll('quietDays').map(String) as Days;
  const exceptTypes = split(text('quietExcept')) as Excepted;
  return {
    from,
    to,
    timeZone: text('quietZone'),
    ...(days.length > 0 && { days }),
    ...(exceptTypes.length > 0 && { exceptTypes }),
  };
}
