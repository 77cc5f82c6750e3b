/** Longer texts are looked for piece by piece: there are limits to what a pattern can hold. */
const MAX_PIECE = 500;

/** A text to be found inside of others, and how much it matters: the least first. */
export type SecretPattern = readonly [text: string, rank: number];

/** The rank of what is only a part of something else: it must not keep anything whole from being found. */
const PIECE = 9;

/** The pattern as it stands, or pieces of it, of which none is so short that it would mean something else. */
export function secretPatternsOf(text: string, rank: number): SecretPattern[] {
  if (text.length <= MAX_PIECE) return [[text, rank]];
  const size = Math.ceil(text.length / Math.ceil(text.length / MAX_PIECE));
  const pieces: SecretPattern[] = [];
  for (let from = 0; from < text.length; from += size) {
    pieces.push([text.slice(from, from + size), PIECE]);
  }
  return pieces;
}

/**
 * One pattern for all of them: it goes through a text once, however many there are. Undefined for none.
 *
 * @param limit patterns at most; of one rank the shortest count, since pieces and lines of a long text are
 * many
 */
export function patternOf(patterns: readonly SecretPattern[], limit: number): RegExp | undefined {
  const ranks = new Map<string, number>();
  for (const [text, rank] of patterns) {
    ranks.set(text, Math.min(rank, ranks.get(text) ?? Infinity));
  }
  const chosen = [...ranks]
    .sort(([a, rank], [b, otherRank]) => rank - otherRank || a.length - b.length)
    .slice(0, limit)
    .map(([text]) => text)
    // The longest first, so that a secret within another does not leave its rest behind.
    .sort((a, b) => b.length - a.length);
  return chosen.length === 0 ? undefined : new RegExp(chosen.map(escapeRegExp).join('|'), 'g');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
