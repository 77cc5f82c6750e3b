import { ApiProperty } from '@nestjs/swagger';
import { OneOf, PageQuery, Timestamp } from '#lib/http';
import {
  COST_GROUPS,
  type CostGroup,
  type CostView,
  type EstimateFigures,
  type EstimateReport,
  type EstimatesOfKind,
} from '../completed-tasks/usage-reports.js';
import type { Period, Quantiles } from '../domain/period.js';

const FROM = 'Tasks that have completed at this time or later; 30 days before `to` when left out';
const TO =
  'Tasks that have completed before this time; now when left out. 366 days after `from` at most';
const tokens = { type: String, example: '8970' };
const time = { type: String, format: 'date-time' };
const idOrNull = { type: String, format: 'uuid', nullable: true };
const textOrNull = { type: String, nullable: true };
const count = { type: 'integer' } as const;

export class EstimatesQuery implements Period {
  @Timestamp({ optional: true, description: FROM })
  from?: string;

  @Timestamp({ optional: true, description: TO })
  to?: string;
}

export class CostsQuery extends PageQuery implements Period {
  @OneOf(COST_GROUPS, { optional: true, description: 'The grouping; task by default' })
  groupBy?: CostGroup;

  @Timestamp({ optional: true, description: FROM })
  from?: string;

  @Timestamp({ optional: true, description: TO })
  to?: string;
}

export class EstimateFiguresDto implements EstimateFigures {
  @ApiProperty({ ...count, description: 'The number of completed tasks' }) tasks!: number;
  @ApiProperty({
    ...count,
    description:
      'The number of these tasks whose runs reported no usage. The other figures exclude ' +
      'them.',
  })
  unreported!: number;
  @ApiProperty({ ...tokens, description: 'The tokens that the tasks were estimated to use' })
  estimatedTokens!: string;
  @ApiProperty({ ...tokens, description: 'The tokens that all runs of the tasks used' })
  usedTokens!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 1.04,
    description: 'The median of used tokens divided by estimated tokens',
  })
  medianRatio!: number | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 0.72,
    description:
      'The share of tasks (0 to 1) whose usage differs from the estimate by at most 20 %',
  })
  within20Percent!: number | null;
}

export class KindEstimatesDto extends EstimateFiguresDto implements EstimatesOfKind {
  @ApiProperty({ example: 'development' }) taskType!: string;
  @ApiProperty(idOrNull) projectId!: string | null;
}

export class EstimateReportDto implements EstimateReport {
  @ApiProperty(time) from!: string;
  @ApiProperty(time) to!: string;
  @ApiProperty({ type: EstimateFiguresDto }) total!: EstimateFiguresDto;
  @ApiProperty({
    type: [KindEstimatesDto],
    description:
      'Figures by task type and project: the 500 with the most tasks, in descending order',
  })
  items!: KindEstimatesDto[];
  @ApiProperty({ description: 'Whether more exist' }) more!: boolean;
}

export class QuantilesDto implements Quantiles {
  @ApiProperty({ description: 'A tenth of the tasks used at most this' }) p10!: string;
  @ApiProperty({ description: 'The median' }) p50!: string;
  @ApiProperty({ description: 'Nine tenths of the tasks used at most this' }) p90!: string;
}

export class UsageCostDto implements CostView {
  @ApiProperty({
    ...idOrNull,
    description: 'The task. It is null for a project, like title, type and time.',
  })
  taskId!: string | null;
  @ApiProperty(textOrNull) title!: string | null;
  @ApiProperty(textOrNull) taskType!: string | null;
  @ApiProperty({ ...time, nullable: true }) completedAt!: string | null;
  @ApiProperty({ ...idOrNull, description: 'The project, or null if the task belongs to none' })
  projectId!: string | null;
  @ApiProperty(textOrNull) projectName!: string | null;
  @ApiProperty({ ...count, description: 'The number of completed tasks' }) tasks!: number;
  @ApiProperty({
    ...count,
    description: 'The number of tasks of the project that failed or were aborted for good',
  })
  failedTasks!: number;
  @ApiProperty({ ...count, description: 'The number of all their runs, including failed ones' })
  runs!: number;
  @ApiProperty({ ...tokens, description: 'The tokens that these runs used' }) usedTokens!: string;
  @ApiProperty({ example: '0.042', description: 'The cost in USD, by the prices of the models' })
  costUsd!: string;
  @ApiProperty({
    ...tokens,
    description: 'The part of usedTokens of runs that failed, and of all runs of failedTasks',
  })
  failedTokens!: string;
  @ApiProperty({ example: '0.03', description: 'The cost of failedTokens in USD' })
  failedCostUsd!: string;
  @ApiProperty({
    ...tokens,
    nullable: true,
    description: 'usedTokens divided by tasks, or null if no task has completed',
  })
  tokensPerOutcome!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '0.021',
    description: 'costUsd divided by tasks, or null if no task has completed',
  })
  costUsdPerOutcome!: string | null;
  @ApiProperty({
    type: QuantilesDto,
    nullable: true,
    description: 'The tokens of single completed tasks of the project, or null without one',
  })
  tokenQuantiles!: QuantilesDto | null;
  @ApiProperty({
    type: QuantilesDto,
    nullable: true,
    description: 'The costs of single completed tasks of the project in USD, or null without one',
  })
  costUsdQuantiles!: QuantilesDto | null;
}

export class UsageCostPageDto {
  @ApiProperty({ type: [UsageCostDto] }) items!: UsageCostDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
