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

/** The event with an example. The OpenAPI document has one of each. */
const EXAMPLE = 'task.status_changed';

const FEWEST_TO_SHARE = 3;

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
  const prefixes = new Set(EVENT_NAMES.map(prefixOf));
  const events = [...prefixes].map(groupOf).join('\n');
  return [before, BEGIN, `\n\n${events}\n${words()}\n`, END, after].join('');
}

/** Returns the sections of the events with a prefix, after the fields that all of them have. */
function groupOf(prefix: string): string {
  const names = EVENT_NAMES.filter((name) => prefixOf(name) === prefix);
  const shared = names.length < FEWEST_TO_SHARE ? new Set<string>() : sharedRows(names);
  const rows = rowsOf(names[0] as EventName).filter((row) => shared.has(keyOf(row)));
  const head =
    rows.length === 0
      ? []
      : [`### \`${prefix}.…\`\n\nEach of these events has the fields:\n\n${tableOf(rows)}`];
  return [...head, ...names.map((name) => sectionOf(name, names, shared))].join('\n');
}

function prefixOf(name: string): string {
  return name.split('.')[0] ?? name;
}

function sharedRows(names: EventName[]): Set<string> {
  const [first = [], ...others] = names.map((name) => rowsOf(name).map(keyOf));
  return new Set(first.filter((key) => others.every((each) => each.includes(key))));
}

/** Fields that an earlier event has, too, are there only. */
function sectionOf(name: EventName, names: EventName[], shared: Set<string>): string {
  const { about }: CataloguedEvent = CATALOGUE[name];
  const ownTable = (event: EventName) =>
    tableOf(rowsOf(event).filter((row) => !shared.has(keyOf(row)))).trimEnd();
  const table = ownTable(name);
  const first = names.find((event) => ownTable(event) === table) ?? name;
  const parts = [`### \`${name}\``, `${about}.`];
  if (first !== name)
    parts.push(`Its fields are those of [\`${first}\`](#${first.replace('.', '')}).`);
  else if (table !== tableOf([]).trimEnd()) parts.push(table);
  if (name === EXAMPLE) parts.push(`\`\`\`json\n${exampleText()}\n\`\`\``);
  return `${parts.join('\n\n')}\n`;
}

function exampleText(): string {
  // Prints lists on one line, like the formatter.
  return JSON.stringify(exampleOf(EXAMPLE), null, 2).replace(/\[\s+("[^"]*")\s+\]/g, '[$1]');
}

function rowsOf(name: EventName): string[][] {
  const { fields }: CataloguedEvent = CATALOGUE[name];
  return Object.entries(fields).map(([key, { about: words, schema, optional }]) => [
    `\`${key}\``,
    `${typeOf(schema)}${schema.nullable ? ' or null' : ''}${optional ? ', or left out' : ''}`,
    words + (schema.enum ? `: ${schema.enum.map((one) => `\`${one}\``).join(', ')}` : ''),
  ]);
}

function tableOf(rows: string[][]): string {
  return aligned([['field', 'type', ''], ...rows]);
}

function keyOf(row: string[]): string {
  return row.join('|');
}

function typeOf({ type, format, items }: CataloguedEvent['fields'][string]['schema']): string {
  if (items) return `array of ${typeOf(items)}`;
  return format ?? type;
}

function words(): string {
  const rows = Object.entries(SHORT_WORDS).map(([word, when]) => [`\`${word}\``, when]);
  return `### In one word\n\n${aligned([['word', 'of the task or the agent'], ...rows])}`;
}
