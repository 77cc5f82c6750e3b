import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CATALOGUE,
  type CataloguedEvent,
  EVENT_NAMES,
  type EventName,
  exampleOf,
  SHORT_WORDS,
} from '#lib/journal';
import { aligned } from '../shared/table.js';
import type { Generated } from './generated.js';

const BEGIN =
  '<!-- Made by `npm run generate` from libs/events/journal/domain: change it there. -->';
const END = '<!-- So far. -->';

const PAGE = 'docs/events.md';

/** Returns the page on events with the catalogue inserted. */
export function generateEvents(root: string): Generated {
  return { files: { [PAGE]: withCatalogue(readFileSync(join(root, PAGE), 'utf8')) } };
}

/**
 * @throws Error if the page has no markers for the catalogue
 */
function withCatalogue(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`The page lacks ${BEGIN}`);
  const events = EVENT_NAMES.map(sectionOf).join('\n');
  return [before, BEGIN, `\n\n${events}\n${words()}\n`, END, after].join('');
}

function sectionOf(name: EventName): string {
  const { about, fields }: CataloguedEvent = CATALOGUE[name];
  const rows = Object.entries(fields).map(([key, { about: words, schema, optional }]) => [
    `\`${key}\``,
    `${typeOf(schema)}${schema.nullable ? ' or null' : ''}${optional ? ', or left out' : ''}`,
    words + (schema.enum ? `: ${schema.enum.map((one) => `\`${one}\``).join(', ')}` : ''),
  ]);
  // Prints lists on one line, like the formatter.
  const example = JSON.stringify(exampleOf(name), null, 2).replace(/\[\s+("[^"]*")\s+\]/g, '[$1]');
  return [
    `### \`${name}\``,
    `${about}.`,
    aligned([['field', 'type', ''], ...rows]).trimEnd(),
    `\`\`\`json\n${example}\n\`\`\`\n`,
  ].join('\n\n');
}

function typeOf({ type, format, items }: CataloguedEvent['fields'][string]['schema']): string {
  if (items) return `array of ${typeOf(items)}`;
  return format ?? type;
}

function words(): string {
  const rows = Object.entries(SHORT_WORDS).map(([word, when]) => [`\`${word}\``, when]);
  return `### In one word\n\n${aligned([['word', 'of the task or the agent'], ...rows])}`;
}
