import type { TokenPrices } from './cost.js';
import { namesOf } from './model-names.js';
import type { ModelTier } from './tiers.js';

/** A price of a model that applies from a time on. */
export interface Price extends TokenPrices {
  /** The name that has the price. The name of a report can be longer: see `namesOf`. */
  model: string;
  tier: ModelTier;
  effectiveFrom: Date;
}

/** The prices by model, the newest first. */
export type PriceList = ReadonlyMap<string, readonly Price[]>;

/** @param prices the newest price of each model comes first */
export function priceListOf(prices: readonly Price[]): PriceList {
  const list = new Map<string, Price[]>();
  for (const price of prices) {
    const known = list.get(price.model);
    if (known) known.push(price);
    else list.set(price.model, [price]);
  }
  return list;
}

/** Finds the price at a time: the longest name of the model that has one by then decides. */
export function priceAt(list: PriceList, model: string, at: Date): Price | undefined {
  for (const name of namesOf(model)) {
    const price = list.get(name)?.find(({ effectiveFrom }) => effectiveFrom <= at);
    if (price) return price;
  }
  return undefined;
}
