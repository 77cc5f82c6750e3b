import type { TokenPrices } from './cost.js';
import { namesOf } from './model-names.js';
import type { ModelTier } from './tiers.js';

/** The price of a model from a time on. */
export interface Price extends TokenPrices {
  /** The name that has the price; what was asked for may say more: see `namesOf`. */
  model: string;
  tier: ModelTier;
  effectiveFrom: Date;
}

/** The prices of each model, the newest first. */
export type PriceList = ReadonlyMap<string, readonly Price[]>;

/** @param prices each model's newest first */
export function priceListOf(prices: readonly Price[]): PriceList {
  const list = new Map<string, Price[]>();
  for (const price of prices) {
    const known = list.get(price.model);
    if (known) known.push(price);
    else list.set(price.model, [price]);
  }
  return list;
}

/** The price that holds at a time: of the longest of the model's names that has one by then. */
export function priceAt(list: PriceList, model: string, at: Date): Price | undefined {
  for (const name of namesOf(model)) {
    const price = list.get(name)?.find(({ effectiveFrom }) => effectiveFrom <= at);
    if (price) return price;
  }
  return undefined;
}
