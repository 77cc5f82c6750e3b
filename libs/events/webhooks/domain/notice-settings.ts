import { type FieldError, isTimeZone } from '#lib/kernel';
import { DAYS, type Kind, type NoticeSettings, type QuietHours } from './kinds.js';
import { TEMPLATE_NAMES, unknownNames } from './notice.js';

/** The settings for people in a request. */
export type NoticeRequest = Partial<NoticeSettings>;

const DIGEST_SECONDS: Record<Exclude<Kind, 'signed'>, number> = {
  slack: 60,
  discord: 60,
  email: 300,
};
/** Minimum number of seconds between two e-mails. */
const MIN_EMAIL_SECONDS = 60;
const DIGEST_MAX = 10;

const NAMES = ['template', 'digestSeconds', 'digestMax', 'quietHours'] as const;

/** The resulting settings. Null for an endpoint without settings. */
export function settingsOf(
  kind: Kind,
  request: NoticeRequest,
  before: NoticeSettings | null = null,
): NoticeSettings | null {
  if (kind === 'signed') return null;
  const start = before ?? {
    template: null,
    digestSeconds: DIGEST_SECONDS[kind],
    digestMax: DIGEST_MAX,
    quietHours: null,
  };
  const given = NAMES.filter((name) => request[name] !== undefined);
  return { ...start, ...Object.fromEntries(given.map((name) => [name, request[name]])) };
}

/** The errors in the requested settings. */
export function settingsErrors(kind: Kind, request: NoticeRequest): FieldError[] {
  if (kind === 'signed') {
    const given = NAMES.filter((name) => request[name] !== undefined && request[name] !== null);
    return given.map((field) => ({ field, message: 'is for the kinds slack, discord and email' }));
  }
  const { template, digestSeconds, quietHours } = request;
  return [
    ...(template ? templateErrors(template) : []),
    ...(quietHours ? quietErrors(quietHours) : []),
    ...(kind === 'email' && digestSeconds !== undefined && digestSeconds < MIN_EMAIL_SECONDS
      ? [{ field: 'digestSeconds', message: `must be at least ${MIN_EMAIL_SECONDS} for email` }]
      : []),
  ];
}

function templateErrors(template: string): FieldError[] {
  const unknown = unknownNames(template).map((name) => `{{${name}}}`);
  if (unknown.length === 0) return [];
  const message = `has ${unknown.join(', ')}; known are ${TEMPLATE_NAMES.join(', ')}`;
  return [{ field: 'template', message }];
}

function quietErrors({ from, to, timeZone, days }: QuietHours): FieldError[] {
  if (!isTimeZone(timeZone)) {
    return [{ field: 'quietHours.timeZone', message: 'must be an IANA name: Europe/Berlin' }];
  }
  const always = from === to && (!days || new Set(days).size === DAYS.length);
  return always ? [{ field: 'quietHours', message: 'must leave some time' }] : [];
}
