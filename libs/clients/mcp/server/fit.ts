/** Less room than this is not worth a part of a value. */
const LEAST = 60;

/**
 * A JSON value within a number of characters of JSON: long texts are cut, and what is largest is left out first. Each cut
 * says what is missing.
 */
export function fit(value: unknown, characters: number): unknown {
  if (sizeOf(value) <= characters) return value;
  if (typeof value === 'string') return cut(value, characters);
  if (Array.isArray(value)) return fitList(value, characters);
  if (typeof value === 'object' && value !== null) return fitObject(value, characters);
  return '[left out]';
}

function cut(text: string, characters: number): string {
  const room = Math.max(0, characters - LEAST);
  let kept = room;
  // Escapes can make JSON of a text six times as long.
  for (let size; (size = sizeOf(text.slice(0, kept))) > room && kept > 0;)
    kept = Math.floor((kept * room) / size);
  return `${text.slice(0, kept).toWellFormed()} [left out: ${text.length - kept} more characters]`;
}

function fitList(list: unknown[], characters: number): unknown[] {
  const kept: unknown[] = [];
  let room = characters - LEAST;
  for (const [at, item] of list.entries()) {
    const size = sizeOf(item) + 1;
    if (size > room && at > 0) return [...kept, `[left out: ${list.length - at} more items]`];
    const fitted = fit(item, room);
    kept.push(fitted);
    room -= sizeOf(fitted) + 1;
  }
  return kept;
}

function fitObject(object: object, characters: number): object {
  const bySize = Object.entries(object)
    .map(([name, value]) => ({ name, value: value as unknown, size: sizeOf(value) }))
    .sort((one, other) => one.size - other.size);
  const fitted = new Map<string, unknown>();
  let room = characters - LEAST;
  for (const [at, { name, value }] of bySize.entries()) {
    const share = Math.floor(room / (bySize.length - at)) - sizeOf(name) - 2;
    if (share < LEAST && sizeOf(value) > share) continue;
    fitted.set(name, fit(value, share));
    room -= sizeOf(fitted.get(name)) + sizeOf(name) + 2;
  }
  const left = bySize.length - fitted.size;
  const kept = Object.keys(object).filter((name) => fitted.has(name));
  return Object.fromEntries([
    ...kept.map((name) => [name, fitted.get(name)] as const),
    ...(left > 0 ? [['…', `[left out: ${left} more members]`] as const] : []),
  ]);
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
