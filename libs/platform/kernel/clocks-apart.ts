/** How far the clocks of two machines that sign tokens for each other may lie apart, in seconds. */
export const CLOCKS_APART_SECONDS = 30;

/**
 * What the time in a token that was made for just this request tells of its maker's clock. Both directions are judged
 * alike: one that is ahead makes tokens that never seem old, and takes those of the other for expired.
 *
 * @param issuedAt seconds since the epoch
 * @returns such as `45 s ahead of`; undefined when they agree
 */
export function clocksApart(issuedAt: number, now = Date.now()): string | undefined {
  const ahead = Math.round(issuedAt - now / 1000);
  if (Math.abs(ahead) <= CLOCKS_APART_SECONDS) return undefined;
  return ahead > 0 ? `${ahead} s ahead of` : `${-ahead} s behind`;
}
