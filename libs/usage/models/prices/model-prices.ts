import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { ShortMemory } from '#lib/identity';
import { type Price, priceAt, type PriceList, priceListOf } from '../domain/price-list.js';
import { allModelPrices } from './model-prices.sql.js';
import type { PriceRow } from './price-row.js';

/** Other servers use a new price after at most this time. */
const REMEMBERED = { seconds: 30, max: 1 };

/** Gives the prices of models from memory, at most 30 seconds old. */
@Injectable()
export class ModelPrices {
  private readonly memory: ShortMemory<PriceList>;

  constructor(database: Database) {
    this.memory = new ShortMemory(async () => {
      const rows = await database.service.rows(allModelPrices);
      return priceListOf(rows.map(toPrice));
    }, REMEMBERED);
  }

  /** @returns the price that applies at a time, or undefined for a model without a price */
  async priceOf(model: string, at: Date): Promise<Price | undefined> {
    return priceAt(await this.memory.get(ALL), model, at);
  }

  /** Forgets the prices after one was added. */
  forget(): void {
    this.memory.forget(ALL);
  }
}

const ALL = 'all';

function toPrice(row: PriceRow): Price {
  return {
    model: row.model,
    tier: row.tier,
    effectiveFrom: row.effective_from,
    inputUsd: row.input_usd,
    outputUsd: row.output_usd,
    cacheReadUsd: row.cache_read_usd,
    cacheWriteUsd: row.cache_write_usd,
  };
}
