/** How an endpoint is spoken to. `signed` is a program's; the others are read by people. */
export const KINDS = ['signed', 'slack', 'discord', 'email'] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds whose messages are sentences. */
export type NoticeKind = Exclude<Kind, 'signed'>;

/** Hosts of a kind whose URLs are one company's; without any, all public ones. */
export const HOSTS: Partial<Record<Kind, readonly string[]>> = {
  slack: ['hooks.slack.com'],
  discord: ['discord.com', 'discordapp.com'],
};

/** Hours in which messages wait. */
export interface QuietHours {
  /** `22:00`, by the clocks of the time zone. */
  from: string;
  /** The day after where it is not later than `from`; the whole day where both are the same. */
  to: string;
  /** An IANA name: Europe/Berlin. */
  timeZone: string;
  /** Days on which they begin; without any, all. */
  days?: Day[];
  /** Events that come all the same: names, groups or `*`. */
  exceptTypes?: string[];
}

export const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
export type Day = (typeof DAYS)[number];

/** What an endpoint for people has beside one for programs. */
export interface NoticeSettings {
  /** Instead of the sentence that an event has; with `{{names}}`. */
  template: string | null;
  /** Seconds between two messages: what comes meanwhile is joined. */
  digestSeconds: number;
  /** Events that a message tells one by one; others are counted. */
  digestMax: number;
  quietHours: QuietHours | null;
}

/**
 * A URL that is a secret, as it is shown: without the last part of its path, and what follows. Discord's has its token
 * behind the id of the webhook, and may go on (`/slack`).
 */
export function cutUrl(text: string): string {
  return [new URL(text).origin, ...cutPath(text).kept, '…'].join('/');
}

/** What of a URL is not shown by `cutUrl`, as it stands in the URL, and without percent signs. */
export function hiddenParts(text: string): string[] {
  const parts = [...cutPath(text).hidden, ...new URL(text).searchParams.values()];
  return [...new Set([...parts, ...parts.map(decoded)])];
}

function cutPath(text: string): { kept: string[]; hidden: string[] } {
  const parts = new URL(text).pathname.split('/').filter((part) => part !== '');
  const discord = parts.indexOf('webhooks');
  const kept = discord < 0 ? parts.length - 1 : Math.min(discord + 2, parts.length - 1);
  return { kept: parts.slice(0, Math.max(0, kept)), hidden: parts.slice(Math.max(0, kept)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
