import { cut, fillPlaceholders } from '#lib/kernel';
import type { NoticeKind } from './kinds.js';
import { headlineOf, type NoticeEvent, sentenceOf, valueText } from './words.js';

/** The names that a template can contain, with their values. */
const VALUES: Record<string, (event: NoticeEvent) => unknown> = {
  text: sentenceOf,
  headline: ({ body }) => headlineOf(String(body['event']), body['newStatus']),
  event: ({ body }) => body['event'],
  timestamp: ({ body }) => body['timestamp'],
  status: ({ body }) => body['newStatus'],
  previousStatus: ({ body }) => body['previousStatus'],
  reason: ({ body }) => body['reason'],
  'task.id': ({ body }) => body['taskId'],
  'task.title': ({ taskTitle }) => taskTitle,
  'run.id': ({ body }) => body['runId'],
  'agent.id': ({ body }) => body['agentId'],
  'agent.name': ({ agentName }) => agentName,
};

export const TEMPLATE_NAMES: readonly string[] = Object.keys(VALUES);

/** Unknown names of a template, each once. */
export function unknownNames(template: string): string[] {
  const unknown = new Set<string>();
  fillPlaceholders(template, (name) => {
    if (!Object.hasOwn(VALUES, name)) unknown.add(name);
    return '';
  });
  return [...unknown];
}

/** The content of a message: events, listed or counted. */
export interface Told {
  /** The first events, as many as are listed. */
  events: readonly NoticeEvent[];
  /** The number of events by headline, including the listed ones. */
  counts: ReadonlyMap<string, number>;
  template: string | null;
}

export interface Notice {
  /** One line without markup, for targets with a subject. */
  subject: string;
  text: string;
}

interface Target {
  /** Maximum number of characters of a message. */
  maxLength: number;
  /**
   * Escapes the target's markup as far as possible: nobody is mentioned, and no link has another
   * name.
   */
  escape(text: string): string;
}

const TARGETS: Record<NoticeKind, Target> = {
  // Some of Slack's clients cut longer texts.
  slack: {
    maxLength: 4_000,
    escape: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  },
  // Discord refuses longer texts.
  discord: {
    maxLength: 2_000,
    escape: (text) => text.replaceAll(/[\\*_~`|>#[\]()<@:]/g, '\\$&'),
  },
  email: { maxLength: 50_000, escape: (text) => text },
};

const MAX_SUBJECT = 150;
const MAX_COUNTED = 5;

/** One message about all events. */
export function noticeOf(kind: NoticeKind, { events, counts, template }: Told): Notice {
  const target = TARGETS[kind];
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const lines = events.map((event) => lineOf(event, template, target));
  const [only = ''] = lines;
  if (total === 1) {
    return { subject: subjectOf(total, counts), text: cut(only, target.maxLength) };
  }
  const head = target.escape(`${total} events: ${countsText(counts)}`);
  return { subject: subjectOf(total, counts), text: joined(head, lines, total, target) };
}

/** The request's body for a target that accepts JSON. */
export function noticeBody(kind: 'slack' | 'discord', { text }: Notice): string {
  const body =
    kind === 'slack'
      ? { text, unfurl_links: false, unfurl_media: false }
      : // Nobody is pinged, whatever the text says, and links have no preview (4).
        { content: text, allowed_mentions: { parse: [] }, flags: 4 };
  return JSON.stringify(body);
}

function lineOf(event: NoticeEvent, template: string | null, { escape }: Target): string {
  if (template === null) return escape(sentenceOf(event));
  const line = fillPlaceholders(template, (name) => {
    const value = VALUES[name]?.(event);
    return escape(name === 'text' ? String(value) : valueText(value));
  });
  // A message without text would be refused for good.
  return line.trim() === '' ? escape(sentenceOf(event)) : line;
}

/** As many lines as fit. The others are a number. */
function joined(head: string, lines: readonly string[], total: number, target: Target): string {
  const restOf = (shown: number): string => (total > shown ? `\n… and ${total - shown} more.` : '');
  let text = head;
  let shown = 0;
  for (const line of lines) {
    const longer = `${text}\n• ${line}`;
    if (longer.length + restOf(shown + 1).length > target.maxLength) break;
    text = longer;
    shown += 1;
  }
  return cut(text + restOf(shown), target.maxLength);
}

function subjectOf(total: number, counts: ReadonlyMap<string, number>): string {
  const [only = 'an event'] = counts.keys();
  const text = total === 1 ? only : `${total} events: ${countsText(counts)}`;
  return `[Drover] ${cut(valueText(text.charAt(0).toUpperCase() + text.slice(1)), MAX_SUBJECT)}`;
}

/** The most frequent first. */
function countsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const parts = sorted.slice(0, MAX_COUNTED).map(([headline, count]) => `${count} × ${headline}`);
  return [...parts, ...(sorted.length > MAX_COUNTED ? ['…'] : [])].join(', ');
}
