import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  Flag,
  Id,
  Int,
  Nested,
  NestedList,
  OneOf,
  Text,
  TextList,
  Timestamp,
  TokenCount,
} from '#lib/http';
import { MAX_FALLBACKS, MAX_MODELS, type ModelFallbacks } from '../domain/fallbacks.js';
import { BUILT_IN_RULES, type Choice, type RoutingRule } from '../domain/select-model.js';
import { MODEL_TIERS, type ModelTier, type TierModels } from '../domain/tiers.js';
import type { RoutingRequest, RoutingView } from '../routing/model-routing.js';
import type { ModelSavings, Savings } from '../savings/routing-savings.js';

const MODEL = { max: 100, optional: true, example: 'claude-sonnet-4-6' };
const tokens = { example: '120000' };
const usd = { example: '1.26', description: 'The cost in USD' };

/** Ids are compared as text. */
function LowerCase(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.toLowerCase() : value,
  );
}

export class RoutingRuleRequestDto implements RoutingRule {
  @Text({ max: 100, optional: true, example: 'review', description: 'Only tasks of this type' })
  taskType?: string;

  @Int(1, 10, { optional: true, description: 'Only tasks with at least this priority' })
  minPriority?: number;

  @Int(1, 100, { optional: true, description: 'Only tasks with at least this estimatedComplexity' })
  minComplexity?: number;

  @TokenCount({ optional: true, description: 'Only tasks with at most this many estimated tokens' })
  maxEstimatedTokens?: string;

  @Id('projects', { optional: true, description: 'Only tasks of this project' })
  @LowerCase()
  projectId?: string;

  @OneOf(MODEL_TIERS, { optional: true, description: 'The tier whose model the tasks get' })
  tier?: ModelTier;

  @Text({ ...MODEL, description: 'The model that the tasks get, instead of a tier' })
  model?: string;
}

export class TierModelsRequestDto implements Partial<TierModels> {
  @Text(MODEL) haiku?: string;
  @Text(MODEL) sonnet?: string;
  @Text(MODEL) opus?: string;
}

export class ModelFallbacksRequestDto implements ModelFallbacks {
  @Text({ max: 100, example: 'claude-opus-4-6', description: 'The model, in any version' })
  model!: string;

  @TextList({
    minItems: 1,
    maxItems: MAX_MODELS,
    item: { max: 100 },
    example: ['claude-sonnet-4-6'],
    description: 'Models of the same provider, which answer in this order',
  })
  models!: string[];
}

export class SetModelRoutingDto implements RoutingRequest {
  @Flag({ description: 'Whether the server chooses models for runs' })
  enabled!: boolean;

  @NestedList(() => RoutingRuleRequestDto, {
    maxItems: 100,
    description:
      'The rules of the workspace. The first rule that matches a task counts. They come ' +
      "before the server's own rules.",
  })
  rules!: RoutingRuleRequestDto[];

  @Nested(() => TierModelsRequestDto, {
    description: "The models of the tiers. The server's models apply to tiers that are left out.",
  })
  tiers!: TierModelsRequestDto;

  @NestedList(() => ModelFallbacksRequestDto, {
    maxItems: MAX_FALLBACKS,
    optional: true,
    description:
      'The models that answer a request of a coding agent if the provider refuses its model for a ' +
      'limit or a failure. They apply whether `enabled` is true or false. None by default.',
  })
  fallbacks?: ModelFallbacksRequestDto[];
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

class ModelFallbacksDto implements ModelFallbacks {
  @ApiProperty({ example: 'claude-opus-4-6' }) model!: string;
  @ApiProperty({ type: [String], example: ['claude-sonnet-4-6'] }) models!: string[];
}

export class ModelRoutingDto implements RoutingView {
  @ApiProperty() enabled!: boolean;
  @ApiProperty({ type: [RoutingRuleDto] }) rules!: RoutingRuleDto[];
  @ApiProperty({ type: TierModelsDto, description: 'The model of each tier' })
  tiers!: TierModelsDto;
  @ApiProperty({
    type: [ModelFallbacksDto],
    description: 'The models that answer if the provider refuses one',
  })
  fallbacks!: ModelFallbacksDto[];
  @ApiProperty({
    type: 'integer',
    description: 'The version. It is 0 until a member sets the rules.',
  })
  version!: number;
}

/** The facts of a task that its model depends on. */
export class PreviewRoutingQuery {
  @Text({
    max: 100,
    optional: true,
    example: 'development',
    description: 'The type of the task. Without it, the preview assumes a type that no rule names.',
  })
  taskType?: string;

  @Int(1, 10, { optional: true, description: 'The priority of the task; 5 by default' })
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

  @Id('projects', { optional: true })
  @LowerCase()
  projectId?: string;
}

export class ModelChoiceDto {
  @ApiProperty({ example: 'claude-sonnet-4-6' }) model!: string;
  @ApiProperty({
    type: String,
    enum: MODEL_TIERS,
    nullable: true,
    description: 'The tier, or null if the model has no price',
  })
  tier!: ModelTier | null;
  @ApiProperty({
    enum: [...BUILT_IN_RULES, 'own'],
    description: 'The rule. `own` is a rule of the workspace; the others are rules of the server.',
  })
  rule!: Choice['rule'];
  @ApiProperty({
    type: 'integer',
    required: false,
    description: 'The index of the rule, from 0',
  })
  index?: number;
  @ApiProperty({ description: 'Whether the server chooses models for runs at all' })
  enabled!: boolean;
}

export class RoutingSavingsQuery {
  @Timestamp({
    optional: true,
    description: 'The start of the period; 30 days before `to` by default',
  })
  from?: string;

  @Timestamp({ optional: true, description: 'The end of the period, not included; now by default' })
  to?: string;
}

class ModelSavingsDto implements ModelSavings {
  @ApiProperty({ example: 'claude-haiku-4-5' }) model!: string;
  @ApiProperty(tokens) tokens!: string;
  @ApiProperty(usd) actualUsd!: string;
  @ApiProperty({
    example: '6.3',
    description: 'The cost with the most expensive model of the price list at that time',
  })
  dearestUsd!: string;
  @ApiProperty({
    example: '5.04',
    description: 'The saved cost. It is negative if the runs cost more.',
  })
  savedUsd!: string;
  @ApiProperty({ type: Number, nullable: true, example: 80 }) savedPercent!: number | null;
}

export class RoutingSavingsDto implements Savings {
  @ApiProperty({ type: String, format: 'date-time' }) from!: string;
  @ApiProperty({ type: String, format: 'date-time' }) to!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'claude-opus-4-1',
    description: 'The last of dearestModels. It is null if no model had a price.',
  })
  dearestModel!: string | null;
  @ApiProperty({
    type: [String],
    example: ['claude-opus-4-1'],
    description:
      'The models that the usage is compared with, in the order of time: at each time the model ' +
      'of the price list with the highest price of output, then of input',
  })
  dearestModels!: string[];
  @ApiProperty({ ...tokens, description: 'The tokens that are compared' }) tokens!: string;
  @ApiProperty({
    ...tokens,
    description: 'The tokens that are not compared because a model had no price',
  })
  unpricedTokens!: string;
  @ApiProperty(usd) actualUsd!: string;
  @ApiProperty({
    example: '6.3',
    description: 'The cost of the same tokens with the most expensive model at that time',
  })
  dearestUsd!: string;
  @ApiProperty({
    example: '5.04',
    description: 'The saved cost. It is negative if the runs cost more.',
  })
  savedUsd!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 80,
    description:
      'The saved share of dearestUsd in percent, with one decimal. It is null while ' +
      'dearestUsd is 0.',
  })
  savedPercent!: number | null;
  @ApiProperty({ type: [ModelSavingsDto], description: 'The models, the largest saving first' })
  models!: ModelSavingsDto[];
}
