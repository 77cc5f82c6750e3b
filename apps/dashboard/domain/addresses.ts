import { defaultStringifySearch } from '@tanstack/react-router';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** The address of one thing: `/tasks/<id>` or `/tasks/<slug>-<id>`, with the rest of its path. */
const OF_THING = new RegExp(`^(/[a-z-]+/)(?:[a-z0-9-]*-)?(${UUID})$`);
const SLUG_LENGTH = 50;

/** Writes lists as repeated parameters, which people can read: `status=FAILED&status=PAUSED`. */
export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search);
  const lists = entries.filter(([, value]) => isListOfWords(value));
  const rest = entries.filter(([, value]) => !isListOfWords(value));
  const written = [defaultStringifySearch(Object.fromEntries(rest)).slice(1)];
  for (const [name, values] of lists)
    for (const value of values as string[])
      written.push(new URLSearchParams({ [name]: value }).toString());
  const text = written.filter((part) => part !== '').join('&');
  return text === '' ? '' : `?${text}`;
}

const isListOfWords = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');

/** The id of an address. The words before it are for people: they can be absent or out of date. */
export function parseId(part: string): string {
  return new RegExp(`${UUID}$`).exec(part)?.[0] ?? part;
}

/** The path of a thing with its name in front of the id, or undefined for other paths. */
export function nameInPath(path: string, name: string): string | undefined {
  const [, list, id] = OF_THING.exec(path) ?? [];
  if (list === undefined || id === undefined) return undefined;
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? `${list}${id}` : `${list}${slug}-${id}`;
}
