import type { TokenUsage } from '#lib/ledger/domain';

/** Prices in USD per million tokens: decimals with at most six places, such as `0.8`. */
export interface TokenPrices {
  inputUsd: string;
  outputUsd: string;
  cacheReadUsd: string;
  cacheWriteUsd: string;
}

const PRICE = /^(\d+)(?:\.(\d{1,6}))?$/;
const PRICE_PLACES = 6;
/** A cost has the places of a price and the places of a million. */
const COST_PLACES = 12;

/**
 * Computes the exact cost in USD: a decimal of at most twelve places without trailing zeros (`0`,
 * `0.0105`, `12`). Without a price the cost is null, because it is unknown.
 *
 * @throws RangeError for a malformed price
 */
export function costOf(usage: TokenUsage, price: TokenPrices): string;
export function costOf(usage: TokenUsage, price: TokenPrices | undefined): string | null;
export function costOf(usage: TokenUsage, price: TokenPrices | undefined): string | null {
  if (price === undefined) return null;
  return decimalOf(
    usage.inputTokens * microsOf(price.inputUsd) +
      usage.outputTokens * microsOf(price.outputUsd) +
      usage.cacheReadTokens * microsOf(price.cacheReadUsd) +
      usage.cacheWriteTokens * microsOf(price.cacheWriteUsd),
  );
}

/** @returns millionths of a dollar */
export function microsOf(price: string): bigint {
  const [, whole, fraction = ''] = PRICE.exec(price) ?? [];
  if (whole === undefined) throw new RangeError(`${price} is no price`);
  return BigInt(whole + fraction.padEnd(PRICE_PLACES, '0'));
}

function decimalOf(units: bigint): string {
  let [digits, places] = [units, COST_PLACES];
  for (; places > 0 && digits % 10n === 0n; places--) digits /= 10n;
  const text = digits.toString().padStart(places + 1, '0');
  const point = text.length - places;
  return places === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`;
}
