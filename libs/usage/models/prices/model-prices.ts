import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { ShortMemory } from '#lib/identity';
import { type Price, priceAt, type PriceList, priceListOf } from '../domain/price-list.js';
import { allModelPrices, type PriceRow } from './model-prices.sql.js';

/** How long a price may hold already and be unknown to another server than the one that was told it. */
const REMEMBERED = { seconds: 30, max: 1 };

/** The prices of models, at most 30 seconds old: to ask for one costs no query. */
@Injectable()
export class ModelPrices {
  private readonly memory: ShortMemory<PriceList>;

  constructor(database: Database) {
    this.memory = new ShortMemory(async () => {
      const rows = await database.service.rows(allModelPrices);
      return priceListOf(rows.map(toPrice));
    }, REMEMBERED);
  }

  /** The price that holds at a time; undefined for a model that has none: its cost is not known. */
  async priceOf(model: string, at: Date): Promise<Price | undefined> {
    return priceAt(await this.memory.get(ALL), model, at);
  }

  /** There is a new one. */
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
