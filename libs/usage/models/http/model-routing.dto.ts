import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Flag, Id, Int, Nested, NestedList, OneOf, Text, Timestamp, TokenCount } from '#lib/http';
import { BUILT_IN_RULES, type Choice, type RoutingRule } from '../domain/select-model.js';
import { MODEL_TIERS, type ModelTier, type TierModels } from '../domain/tiers.js';
import type { RoutingRequest, RoutingView } from '../routing/model-routing.js';
import type { ModelSavings, Savings } from '../savings/routing-savings.js';

const MODEL = { max: 100, optional: true, example: 'claude-sonnet-4-6' };
const tokens = { example: '120000' };
const usd = { example: '1.26', description: 'In USD' };

/** Ids are compared as text. */
function LowerCase(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.toLowerCase() : value,
  );
}

export class RoutingRuleRequestDto implements RoutingRule {
  @Text({ max: 100, optional: true, example: 'review', description: 'Only tasks of this type' })
  taskType?: string;

  @Int(1, 10, { optional: true, description: 'Only tasks of at least this priority' })
  minPriority?: number;

  @Int(1, 100, { optional: true, description: 'Only tasks of at least this estimatedComplexity' })
  minComplexity?: number;

  @TokenCount({ optional: true, description: 'Only tasks of which no more is expected' })
  maxEstimatedTokens?: string;

  @Id({ optional: true, description: 'Only tasks of this project' })
  @LowerCase()
  projectId?: string;

  @OneOf(MODEL_TIERS, { optional: true, description: 'They get the model of this tier' })
  tier?: ModelTier;

  @Text({ ...MODEL, description: 'They get this model; instead of a tier' })
  model?: string;
}

export class TierModelsRequestDto implements Partial<TierModels> {
  @Text(MODEL) haiku?: string;
  @Text(MODEL) sonnet?: string;
  @Text(MODEL) opus?: string;
}

export class SetModelRoutingDto implements RoutingRequest {
  @Flag({ description: 'Whether runs are given models' })
  enabled!: boolean;

  @NestedList(() => RoutingRuleRequestDto, {
    maxItems: 100,
    description: "The first that holds for a task counts, and before the server's own",
  })
  rules!: RoutingRuleRequestDto[];

  @Nested(() => TierModelsRequestDto, {
    description: "The models of the tiers; the server's for those left out",
  })
  tiers!: TierModelsRequestDto;
}

class RoutingRuleDto implements RoutingRule {
  @ApiProperty({ required: false }) taskType?: string;
  @ApiProperty({ type: 'integer', required: false }) minPriority?: number;
  @ApiProperty({ type: 'integer', required: false }) minComplexity?: number;
  @ApiProperty({ required: false, ...tokens }) maxEstimatedTokens?: string;
  @ApiProperty({ required: false, format: 'uuid' }) projectId?: string;
  @ApiProperty({ required: false, enum: MODEL_TIERS }) tier?: ModelTier;
  @ApiProperty({ required: false }) model?: string;
}

class TierModelsDto implements TierModels {
  @ApiProperty({ example: 'claude-haiku-4-5' }) haiku!: string;
  @ApiProperty({ example: 'claude-sonnet-4-6' }) sonnet!: string;
  @ApiProperty({ example: 'claude-opus-4-6' }) opus!: string;
}

export class ModelRoutingDto implements RoutingView {
  @ApiProperty() enabled!: boolean;
  @ApiProperty({ type: [RoutingRuleDto] }) rules!: RoutingRuleDto[];
  @ApiProperty({ type: TierModelsDto, description: 'The model of each tier' })
  tiers!: TierModelsDto;
  @ApiProperty({ type: 'integer', description: '0 until somebody has set it' }) version!: number;
}

/** The facts of a task that its model depends on. */
export class PreviewRoutingQuery {
  @Text({
    max: 100,
    optional: true,
    example: 'development',
    description: 'Left out: of one that no rule names',
  })
  taskType?: string;

  @Int(1, 10, { optional: true, description: '5 by default, as of tasks' })
  priority: number = 5;

  @Int(1, 100, { optional: true })
  estimatedComplexity?: number;

  @Text({
    max: 18,
    optional: true,
    example: '9000',
    pattern: { regexp: /^\d+$/, words: 'be a whole number' },
  })
  estimatedTokens?: string;

  @Id({ optional: true })
  @LowerCase()
  projectId?: string;
}

export class ModelChoiceDto {
  @ApiProperty({ example: 'claude-sonnet-4-6' }) model!: string;
  @ApiProperty({
    type: String,
    enum: MODEL_TIERS,
    nullable: true,
    description: 'null: the model has no price',
  })
  tier!: ModelTier | null;
  @ApiProperty({
    enum: [...BUILT_IN_RULES, 'own'],
    description: "own: one of the workspace's rules; the others are the server's",
  })
  rule!: Choice['rule'];
  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'Which of the rules it was, from 0 on',
  })
  index?: number;
  @ApiProperty({ description: 'Whether runs are given models at all' }) enabled!: boolean;
}

export class RoutingSavingsQuery {
  @Timestamp({ optional: true, description: '30 days before `to` by default' })
  from?: string;

  @Timestamp({ optional: true, description: 'Itself not included; now by default' })
  to?: string;
}

class ModelSavingsDto implements ModelSavings {
  @ApiProperty({ example: 'claude-haiku-4-5' }) model!: string;
  @ApiProperty(tokens) tokens!: string;
  @ApiProperty(usd) actualUsd!: string;
  @ApiProperty({ example: '6.3', description: "Of the dearest tier's model" }) dearestUsd!: string;
  @ApiProperty({ example: '5.04', description: 'Below zero: it cost more' }) savedUsd!: string;
  @ApiProperty({ type: Number, nullable: true, example: 80 }) savedPercent!: number | null;
}

export class RoutingSavingsDto implements Savings {
  @ApiProperty({ type: String, format: 'date-time' }) from!: string;
  @ApiProperty({ type: String, format: 'date-time' }) to!: string;
  @ApiProperty({ example: 'claude-opus-4-6', description: 'The model of the tier opus' })
  dearestModel!: string;
  @ApiProperty({ ...tokens, description: 'Those that are compared' }) tokens!: string;
  @ApiProperty({
    ...tokens,
    description: 'Those that are not: the model, or the dearest one, had no price',
  })
  unpricedTokens!: string;
  @ApiProperty(usd) actualUsd!: string;
  @ApiProperty({ example: '6.3', description: 'Had the dearest model used the same tokens' })
  dearestUsd!: string;
  @ApiProperty({ example: '5.04', description: 'Below zero: it cost more' }) savedUsd!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 80,
    description: 'Of dearestUsd, with one decimal; null while that is 0',
  })
  savedPercent!: number | null;
  @ApiProperty({ type: [ModelSavingsDto], description: 'The most saved first' })
  models!: ModelSavingsDto[];
}
