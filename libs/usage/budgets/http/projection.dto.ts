import { ApiProperty } from '@nestjs/swagger';
import type { BurnRates, Recommendation } from '../domain/projection.js';
import { RECOMMENDATIONS } from '../domain/projection.js';
import type { ProjectionView } from '../projection/projections.js';

const tokens = { type: String, example: '125000' };
const time = { type: String, format: 'date-time' };
const daysOrNull = { type: Number, nullable: true, example: 6.5 };

/** The unit is tokens a day. */
export class BurnRatesDto implements Record<keyof BurnRates, string> {
  @ApiProperty({ ...tokens, description: '24 times what was used in the last hour' })
  lastHour!: string;
  @ApiProperty({ ...tokens, description: 'What was used in the last 24 hours' }) lastDay!: string;
  @ApiProperty({ ...tokens, description: 'The mean since the period began' }) period!: string;
  @ApiProperty({
    ...tokens,
    description:
      'A weighted mean of the last 48 hours: each counts half as much as the one six hours later',
  })
  ewma!: string;
}

export class ThrottleDto {
  @ApiProperty({ type: 'integer', description: 'Runs that may go on at once' }) maxRuns!: number;
  @ApiProperty(time) since!: string;
}

export class ProjectionDto implements ProjectionView {
  @ApiProperty({ type: String, format: 'uuid' }) budgetId!: string;
  @ApiProperty({ ...tokens, description: 'Not used' }) remainingTokens!: string;
  @ApiProperty({ ...tokens, description: 'Neither used nor held by runs' })
  availableTokens!: string;
  @ApiProperty({ ...tokens, description: 'Tokens a day: those of the last 24 hours' })
  dailyBurnRate!: string;
  @ApiProperty({ type: BurnRatesDto, description: 'Tokens a day' }) burnRates!: BurnRatesDto;
  @ApiProperty({ ...daysOrNull, description: 'At dailyBurnRate; null: nothing was used' })
  daysUntilExhaustion!: number | null;
  @ApiProperty({ ...daysOrNull, description: 'At the fastest of burnRates; null: never' })
  earliestDaysUntilExhaustion!: number | null;
  @ApiProperty({ ...daysOrNull, description: 'At the slowest of burnRates; null: never' })
  latestDaysUntilExhaustion!: number | null;
  @ApiProperty({
    ...time,
    nullable: true,
    description: 'After daysUntilExhaustion; null: never, or not in a hundred years',
  })
  projectedExhaustionDate!: string | null;
  @ApiProperty(time) periodEnd!: string;
  @ApiProperty({ description: 'Whether it lasts until periodEnd at dailyBurnRate' })
  willLastPeriod!: boolean;
  @ApiProperty({
    enum: RECOMMENDATIONS,
    description:
      'PAUSE: nothing is available, or exhausted within an hour at the fastest rate. THROTTLE: exhausted within 7 days. ' +
      'CONTINUE: otherwise, and when the period ends before',
  })
  recommendation!: Recommendation;
  @ApiProperty({
    type: ThrottleDto,
    nullable: true,
    description: 'The limit that the coordinator has set by it; null: none',
  })
  throttle!: ThrottleDto | null;
  @ApiProperty({ ...time, description: 'When this was so' }) at!: string;
}
