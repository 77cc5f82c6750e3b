/** The time of an id of version 7 in ms. Shorter beginnings are shared by ids of the same minute. */
const SHORTEST = '01990000-0000'.length;
const LONGEST = 36;

/** The number of first digits that tell the ids of a list apart. Commands accept them. */
export function shortLength(ids: readonly unknown[]): number {
  const known = [...new Set(ids.filter((id) => typeof id === 'string'))];
  for (let length = SHORTEST; length < LONGEST; length += 1) {
    const parts = new Set(known.map((id) => id.slice(0, length)));
    if (parts.size === known.length && !known.some((id) => id[length - 1] === '-')) return length;
  }
  return LONGEST;
}
