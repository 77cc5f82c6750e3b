import { ApiProperty } from '@nestjs/swagger';
import type { BurnRates, Recommendation } from '../domain/projection.js';
import { RECOMMENDATIONS } from '../domain/projection.js';
import type { ProjectionView } from '../projection/projections.js';

const tokens = { type: String, example: '125000' };
const time = { type: String, format: 'date-time' };
const daysOrNull = { type: Number, nullable: true, example: 6.5 };

/** The unit is tokens a day. */
export class BurnRatesDto implements Record<keyof BurnRates, string> {
  @ApiProperty({ ...tokens, description: '24 times the tokens used in the last hour' })
  lastHour!: string;
  @ApiProperty({ ...tokens, description: 'The tokens used in the last 24 hours' }) lastDay!: string;
  @ApiProperty({ ...tokens, description: 'The mean since the start of the period' })
  period!: string;
  @ApiProperty({
    ...tokens,
    description:
      'A weighted mean of the last 48 hours. The weight of an hour halves every six hours.',
  })
  ewma!: string;
}

export class ThrottleDto {
  @ApiProperty({ type: 'integer', description: 'The maximum number of concurrent runs' })
  maxRuns!: number;
  @ApiProperty(time) since!: string;
}

export class ProjectionDto implements ProjectionView {
  @ApiProperty({ type: String, format: 'uuid' }) budgetId!: string;
  @ApiProperty({ ...tokens, description: 'The tokens that are not consumed' })
  remainingTokens!: string;
  @ApiProperty({ ...tokens, description: 'The tokens that are neither consumed nor held by runs' })
  availableTokens!: string;
  @ApiProperty({ ...tokens, description: 'Tokens per day, from the last 24 hours' })
  dailyBurnRate!: string;
  @ApiProperty({ type: BurnRatesDto, description: 'Tokens per day' }) burnRates!: BurnRatesDto;
  @ApiProperty({
    ...daysOrNull,
    description: 'The days until exhaustion at dailyBurnRate. It is null if nothing was used.',
  })
  daysUntilExhaustion!: number | null;
  @ApiProperty({
    ...daysOrNull,
    description: 'The days at the fastest of burnRates. null means never.',
  })
  earliestDaysUntilExhaustion!: number | null;
  @ApiProperty({
    ...daysOrNull,
    description: 'The days at the slowest of burnRates. null means never.',
  })
  latestDaysUntilExhaustion!: number | null;
  @ApiProperty({
    ...time,
    nullable: true,
    description:
      'The time of exhaustion. It is null if that is never or over a hundred years away.',
  })
  projectedExhaustionDate!: string | null;
  @ApiProperty(time) periodEnd!: string;
  @ApiProperty({ description: 'Whether the budget lasts until periodEnd at dailyBurnRate' })
  willLastPeriod!: boolean;
  @ApiProperty({
    enum: RECOMMENDATIONS,
    description:
      'PAUSE: nothing is available, or the budget lasts at most an hour at the fastest ' +
      'rate. THROTTLE: it lasts at most 7 days. CONTINUE: it lasts longer, or the period ' +
      'ends earlier.',
  })
  recommendation!: Recommendation;
  @ApiProperty({
    type: ThrottleDto,
    nullable: true,
    description: 'The limit that the coordinator set because of this budget, or null',
  })
  throttle!: ThrottleDto | null;
  @ApiProperty({ ...time, description: 'The time of these figures' }) at!: string;
}
