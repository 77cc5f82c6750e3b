import { parse } from 'node:querystring';

type Query = Record<string, string | string[]>;

/** Half of a character, which no text can contain. Its field is refused by name. */
const MALFORMED = '\ud800';

/**
 * Parses a query string. A comparison becomes a parameter: `priority>=8`, which splits into
 * `priority>` and `8`, is `priorityGte`, and `priority<=3` is `priorityLte`, escaped or not. A
 * repeated parameter is a list. A wrong escape is not guessed; it makes the text invalid.
 */
export function parseQuery(text: string): Query {
  const parsed = parse(text, '&', '=', { decodeURIComponent: unescape }) as Query;
  if (!/[<>]|%3[ce]/i.test(text)) return parsed;
  const query: Query = Object.create(null) as Query;
  for (const [key, value] of Object.entries(parsed)) {
    const comparison = readComparison(key, value);
    append(query, comparison?.name ?? key, comparison?.value ?? value);
  }
  return query;
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return MALFORMED;
  }
}

const COMPARISON = /^(\w+)([<>])(?:=(.*))?$/s;
const SUFFIX = { '<': 'Lte', '>': 'Gte' } as const;

function readComparison(key: string, value: string | string[]) {
  const match = COMPARISON.exec(key);
  if (!match) return undefined;
  const [, name, sign, escaped] = match;
  // If the equals sign is escaped, too, the whole comparison arrives as a key without a value.
  if (escaped !== undefined && value !== '') return undefined;
  return { name: `${name}${SUFFIX[sign as '<' | '>']}`, value: escaped ?? value };
}

function append(query: Query, name: string, value: string | string[]): void {
  const before = query[name];
  query[name] = before === undefined ? value : [before, value].flat();
}
