import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Account } from '#lib/identity';
import {
  decodeCursor,
  DroverError,
  isStorableText,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import { microsOf, type TokenPrices } from '../domain/cost.js';
import { namesOf } from '../domain/model-names.js';
import type { ModelTier } from '../domain/tiers.js';
import { findModelPrice, insertModelPrice } from './add-model-price.sql.js';
import { listModelPrices } from './list-model-prices.sql.js';
import { ModelPrices } from './model-prices.js';
import type { PriceRow } from './price-row.js';

export interface NewPrice extends TokenPrices {
  model: string;
  tier: ModelTier;
  effectiveFrom?: string;
}

/** A price of the API. Prices are decimals in USD per million tokens, times are RFC 3339. */
export interface PriceView extends TokenPrices {
  model: string;
  tier: ModelTier;
  effectiveFrom: string;
  /** The value is user:<id>. Prices that came with the installation have null. */
  createdBy: string | null;
  createdAt: string;
}

export interface PriceFilter {
  model?: string;
  at?: string;
}

const NUMBERS = ['inputUsd', 'outputUsd', 'cacheReadUsd', 'cacheWriteUsd'] as const;
const IN_THE_PAST = { field: 'effectiveFrom', message: 'must not be in the past' };

/** Keeps the prices of the installation. Everybody lists them, operators add to them. */
@Injectable()
export class PriceKeeper {
  constructor(
    private readonly database: Database,
    private readonly prices: ModelPrices,
  ) {}

  /**
   * Lists prices by model, the newest first: all, or the prices of a time.
   *
   * @throws DroverError `malformed_cursor`
   */
  async list(
    { model, at }: PriceFilter,
    { limit, cursor }: { limit: number; cursor?: string },
  ): Promise<Page<PriceView>> {
    const names = model === undefined ? null : namesOf(model);
    const params = [names, at ?? null, ...parseCursor(cursor), limit + 1];
    const rows = await this.database.service.rows(listModelPrices, params);
    return toPage(rows, limit, keyOf, toView);
  }

  /**
   * Adds a price from a time on. A repeated request gets the price that exists.
   *
   * @throws DroverError `validation_failed` (a time that has passed), `price_exists`
   */
  async add({ userId }: Pick<Account, 'userId'>, price: NewPrice): Promise<PriceView> {
    const { model, tier, effectiveFrom = null } = price;
    const numbers = NUMBERS.map((name) => price[name]);
    const params = [model, tier, effectiveFrom, ...numbers, userId];
    const added = await firstRow(this.database.service, insertModelPrice, params);
    this.prices.forget();
    return toView(added ?? (await this.findSame(price)));
  }

  private async findSame(price: NewPrice): Promise<PriceRow> {
    const { model, effectiveFrom } = price;
    // Another price was added at the same moment.
    if (effectiveFrom === undefined) throw new DroverError('price_exists');
    const known = await firstRow(this.database.service, findModelPrice, [model, effectiveFrom]);
    if (!known) throw new DroverError('validation_failed', { errors: [IN_THE_PAST] });
    if (isSame(known, price)) return known;
    throw new DroverError('price_exists', { members: { current: toView(known) } });
  }
}

function isSame(row: PriceRow, price: NewPrice): boolean {
  const known = toView(row);
  return (
    known.tier === price.tier &&
    NUMBERS.every((name) => microsOf(known[name]) === microsOf(price[name]))
  );
}

function parseCursor(cursor: string | undefined): [string | null, string | null] {
  if (cursor === undefined) return [null, null];
  const [model, from] = decodeCursor(cursor, ['string', 'string']) as [string, string];
  if (!isTime(from) || !isStorableText(model)) throw malformedCursor();
  return [model, from];
}

function isTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

function keyOf({ model, effective_from: from }: PriceRow): [string, string] {
  return [model, from.toISOString()];
}

function toView(row: PriceRow): PriceView {
  return {
    model: row.model,
    tier: row.tier,
    effectiveFrom: row.effective_from.toISOString(),
    inputUsd: row.input_usd,
    outputUsd: row.output_usd,
    cacheReadUsd: row.cache_read_usd,
    cacheWriteUsd: row.cache_write_usd,
    createdBy: row.created_by && `user:${row.created_by}`,
    createdAt: row.created_at.toISOString(),
  };
}
