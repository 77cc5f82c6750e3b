/** Minimum room for a part of a value, in characters. A smaller part is left out. */
const MIN_ROOM = 60;

/**
 * Shrinks a JSON value to a number of characters of JSON. Long texts are cut, and the largest
 * members are left out first. Each cut names the missing part.
 *
 * @param characters at least 60
 */
export function fit(value: unknown, characters: number): unknown {
  if (sizeOf(value) <= characters) return value;
  if (typeof value === 'string') return cut(value, characters);
  if (Array.isArray(value)) return fitList(value, characters);
  if (typeof value === 'object' && value !== null) return fitObject(value, characters);
  return '[omitted]';
}

function cut(text: string, characters: number): string {
  const room = Math.max(0, characters - MIN_ROOM);
  let length = room;
  // Escapes can make the JSON of a text six times as long.
  for (let size; (size = sizeOf(text.slice(0, length))) > room && length > 0;)
    length = Math.floor((length * room) / size);
  const omitted = `[omitted: ${text.length - length} more characters]`;
  return `${text.slice(0, length).toWellFormed()} ${omitted}`;
}

function fitList(list: unknown[], characters: number): unknown[] {
  const items: unknown[] = [];
  let room = characters - MIN_ROOM;
  for (const [at, item] of list.entries()) {
    const size = sizeOf(item) + 1;
    if (size > room && (at > 0 || room < MIN_ROOM))
      return [...items, `[omitted: ${list.length - at} more items]`];
    const fitted = fit(item, room);
    items.push(fitted);
    room -= sizeOf(fitted) + 1;
  }
  return items;
}

function fitObject(object: object, characters: number): object {
  const bySize = Object.entries(object)
    .map(([name, value]) => ({ name, value: value as unknown, size: sizeOf(value) }))
    .sort((one, other) => one.size - other.size);
  const fitted = new Map<string, unknown>();
  let room = characters - MIN_ROOM;
  for (const [at, { name, value }] of bySize.entries()) {
    const share = Math.floor(room / (bySize.length - at)) - sizeOf(name) - 2;
    if (share < MIN_ROOM && sizeOf(value) > share) continue;
    fitted.set(name, fit(value, share));
    room -= sizeOf(fitted.get(name)) + sizeOf(name) + 2;
  }
  const omitted = bySize.length - fitted.size;
  const names = Object.keys(object).filter((name) => fitted.has(name));
  return Object.fromEntries([
    ...names.map((name) => [name, fitted.get(name)] as const),
    ...(omitted > 0 ? [['…', `[omitted: ${omitted} more members]`] as const] : []),
  ]);
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
