/**
 * Finds the known word that was probably meant.
 *
 * @param most the most letters in which they differ
 */
export function nearestWord(
  word: string,
  known: Iterable<string>,
  most: number,
): string | undefined {
  const near = [...known]
    .map((one) => ({ one, distance: distanceOf(word, one, most) }))
    .filter(({ distance }) => distance <= most);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.one;
}

/** The number of inserted, removed, replaced and swapped letters. */
function distanceOf(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Infinity;
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row++) {
    const [above, current] = [rows[row - 1] as number[], [row]];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 2] === other[column - 1] && one[row - 1] === other[column - 2];
      const replaced = (above[column - 1] as number) + (isSame ? 0 : 1);
      const shifted = Math.min(above[column] as number, current[column - 1] as number) + 1;
      const swapped = isSwapped ? (rows[row - 2]?.[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(replaced, shifted, swapped));
    }
    rows.push(current);
  }
  return rows.at(-1)?.at(-1) as number;
}
