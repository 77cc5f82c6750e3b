/** The protocol of an endpoint. `signed` is for programs; people read the others. */
export const KINDS = ['signed', 'slack', 'discord', 'email'] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds with messages in sentences. */
export type NoticeKind = Exclude<Kind, 'signed'>;

/** Hosts of a kind whose URLs belong to one company. Other kinds allow all public hosts. */
export const HOSTS: Partial<Record<Kind, readonly string[]>> = {
  slack: ['hooks.slack.com'],
  discord: ['discord.com', 'discordapp.com'],
};

/** Hours during which messages wait. */
export interface QuietHours {
  /** `22:00`, in the local time of the time zone. */
  from: string;
  /** On the next day unless it is later than `from`. A whole day if both are equal. */
  to: string;
  /** An IANA name: Europe/Berlin. */
  timeZone: string;
  /** Days on which they start. Without any, every day. */
  days?: Day[];
  /** Events that are sent anyway: names, groups or `*`. */
  exceptTypes?: string[];
}

export const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const;
export type Day = (typeof DAYS)[number];

/** Additional settings of an endpoint for people. */
export interface NoticeSettings {
  /** Replaces the sentence of an event. Can contain `{{names}}`. */
  template: string | null;
  /** Seconds between two messages. Events in between are joined. */
  digestSeconds: number;
  /** Events that a message lists. Others are counted. */
  digestMax: number;
  quietHours: QuietHours | null;
}

/**
 * The public form of a secret URL: without the last part of its path and everything after it.
 * Discord's has its token after the webhook's id, and can continue (`/slack`).
 */
export function cutUrl(text: string): string {
  return [new URL(text).origin, ...cutPath(text).kept, '…'].join('/');
}

/** The parts of a URL that `cutUrl` hides, as they stand in the URL and decoded. */
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
