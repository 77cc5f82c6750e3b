/** Longer texts are searched in pieces, because the size of a pattern is limited. */
const MAX_PIECE = 500;

/** A text to find inside others, with its importance: the lowest rank first. */
export type SecretPattern = readonly [text: string, rank: number];

/** The rank of a part of another text. A part must not prevent the search for a whole text. */
const PIECE = 9;

/** The whole pattern, or pieces that are long enough to be unambiguous. */
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
 * One pattern for all texts, so that a single pass suffices. Undefined for none.
 *
 * @param limit maximum number of patterns; within a rank the shortest win, because a long text has
 *   many pieces and lines
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
    // The longest first, so that a secret inside another does not leave the rest visible.
    .sort((a, b) => b.length - a.length);
  return chosen.length === 0 ? undefined : new RegExp(chosen.map(escapeRegExp).join('|'), 'g');
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
