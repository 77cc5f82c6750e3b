import { ApiProperty } from '@nestjs/swagger';
import { OneOf, PageQuery, Text, Timestamp } from '#lib/http';
import type { Page } from '#lib/kernel';
import { MODEL_TIERS, type ModelTier } from '../domain/tiers.js';
import type { NewPrice, PriceFilter, PriceView } from '../prices/price-keeper.js';
import { UsdPrice } from './usd-price.js';

const TIER = 'The tier. haiku is the cheapest, for simple work. opus is the most expensive.';
const PER_MILLION = 'The price in USD per million tokens';
const time = { type: String, format: 'date-time' };

export class ListModelPricesQuery extends PageQuery implements PriceFilter {
  @Text({
    max: 100,
    optional: true,
    example: 'claude-sonnet-4-20250514',
    description: 'Only prices of this model, under its name and the shorter names that match it',
  })
  model?: string;

  @Timestamp({ optional: true, description: 'Only prices that apply at this time' })
  at?: string;
}

export class CreateModelPriceDto implements NewPrice {
  @Text({ max: 100, example: 'claude-sonnet-4' })
  model!: string;

  @OneOf(MODEL_TIERS, { description: TIER })
  tier!: ModelTier;

  @Timestamp({ optional: true, description: 'The time from which the price applies: now or later' })
  effectiveFrom?: string;

  @UsdPrice({ example: '3', description: PER_MILLION })
  inputUsd!: string;

  @UsdPrice({ example: '15', description: PER_MILLION })
  outputUsd!: string;

  @UsdPrice({ example: '0.3', description: PER_MILLION })
  cacheReadUsd!: string;

  @UsdPrice({ example: '3.75', description: PER_MILLION })
  cacheWriteUsd!: string;
}

export class ModelPriceDto implements PriceView {
  @ApiProperty({ example: 'claude-sonnet-4' }) model!: string;
  @ApiProperty({ enum: MODEL_TIERS, description: TIER }) tier!: ModelTier;
  @ApiProperty({
    ...time,
    description: 'The time from which the price applies, until the next price of the model',
  })
  effectiveFrom!: string;
  @ApiProperty({ example: '3', description: PER_MILLION }) inputUsd!: string;
  @ApiProperty({ example: '15', description: PER_MILLION }) outputUsd!: string;
  @ApiProperty({ example: '0.3', description: PER_MILLION }) cacheReadUsd!: string;
  @ApiProperty({ example: '3.75', description: PER_MILLION }) cacheWriteUsd!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'user:0190…',
    description: 'The creator, or null for a price that is part of the installation',
  })
  createdBy!: string | null;
  @ApiProperty(time) createdAt!: string;
}

export class ModelPricePageDto implements Page<PriceView> {
  @ApiProperty({ type: [ModelPriceDto] }) items!: ModelPriceDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
