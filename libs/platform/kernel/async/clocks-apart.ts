/**
 * Maximum difference between the clocks of two machines that sign tokens for each other, in
 * seconds.
 */
export const CLOCKS_APART_SECONDS = 30;

/**
 * The clock difference that a token made for this request reveals. Both directions are errors: a
 * clock that is ahead makes tokens that never seem old, and treats the other's tokens as expired.
 *
 * @param issuedAt seconds since the epoch
 * @returns for example `45 s ahead of`; undefined if the clocks agree
 */
export function clocksApart(issuedAt: number, now = Date.now()): string | undefined {
  const ahead = Math.round(issuedAt - now / 1000);
  if (Math.abs(ahead) <= CLOCKS_APART_SECONDS) return undefined;
  return ahead > 0 ? `${ahead} s ahead of` : `${-ahead} s behind`;
}
