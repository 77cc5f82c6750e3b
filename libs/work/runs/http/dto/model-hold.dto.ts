import { ApiProperty } from '@nestjs/swagger';
import { Flag, Text, TokenCount } from '#lib/http';
import {
  HOLD_OUTCOMES,
  HOLD_REASONS,
  type ModelHoldView,
  type ModelRequestWish,
} from '../../reports/model-holds.js';
import { MODEL_NAME } from './usage-report.dto.js';
import { BudgetStandingDto } from './usage.dto.js';

/** More tokens than one request can use: such a bound is a mistake. */
const ABSURD_TOKENS = 10n ** 12n;

export class SetModelHoldDto implements ModelRequestWish {
  @TokenCount({
    min: 1n,
    max: ABSURD_TOKENS,
    description: 'The upper bound of the tokens of the request: input and output',
  })
  tokens!: string;

  @Text({
    max: 100,
    optional: true,
    pattern: MODEL_NAME,
    description: 'The model of the request. With it, the answer has the model of routing.',
  })
  model?: string;

  @Flag({
    optional: true,
    description:
      'Whether a refusal applies the policy of the budget to the task; true by default. With ' +
      'false the host can ask again, with a lower bound or later.',
  })
  final?: boolean;
}

export class ModelHoldDto implements ModelHoldView {
  @ApiProperty({
    enum: HOLD_OUTCOMES,
    description:
      'Only a `granted` request can be sent. `wait`: it would fit if other requests or runs held ' +
      'nothing, and `final` is false. `unpriced`: the run cannot ask this model, and `reason` says why.',
  })
  outcome!: ModelHoldView['outcome'];

  @ApiProperty({
    type: String,
    enum: HOLD_REASONS,
    nullable: true,
    description:
      'The reason of a refusal. `model_unpriced`: the model has no price, and a budget covers the ' +
      'run. `model_not_allowed`: workspace or project of the run does not allow the model.',
  })
  reason!: ModelHoldView['reason'];

  @ApiProperty({ type: String, nullable: true, description: 'The reason, for people' })
  message!: string | null;

  @ApiProperty({
    type: BudgetStandingDto,
    nullable: true,
    description: 'The budget that has too few tokens available',
  })
  budget!: BudgetStandingDto | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The model that the request must ask instead, or null if it can ask its own',
  })
  model!: string | null;

  @ApiProperty({
    type: [String],
    description:
      'The models to ask, in this order, if the provider refuses that one for a limit or a failure. ' +
      'The hold covers them.',
  })
  fallbacks!: string[];
}
