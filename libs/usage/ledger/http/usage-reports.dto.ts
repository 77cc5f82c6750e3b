import { ApiProperty } from '@nestjs/swagger';
import { OneOf, PageQuery, Timestamp } from '#lib/http';
import {
  COST_GROUPS,
  type CostGroup,
  type CostView,
  type EstimateFigures,
  type EstimateReport,
  type EstimatesOfKind,
  type Period,
} from '../completed-tasks/usage-reports.js';

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
  @OneOf(COST_GROUPS, { optional: true, description: 'task when left out' })
  groupBy?: CostGroup;

  @Timestamp({ optional: true, description: FROM })
  from?: string;

  @Timestamp({ optional: true, description: TO })
  to?: string;
}

export class EstimateFiguresDto implements EstimateFigures {
  @ApiProperty({ ...count, description: 'Tasks that have completed' }) tasks!: number;
  @ApiProperty({
    ...count,
    description: 'Of these, tasks whose runs reported no usage; the other numbers are without them',
  })
  unreported!: number;
  @ApiProperty({ ...tokens, description: 'What they were expected to use' })
  estimatedTokens!: string;
  @ApiProperty({ ...tokens, description: 'What all of their runs used' }) usedTokens!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 1.04,
    description: 'The median of used / estimated',
  })
  medianRatio!: number | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 0.72,
    description:
      'The share of tasks whose usage differs from the estimate by 20 % of it at most; 0 to 1',
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
    description: 'By type and project: the 500 with most tasks, these first',
  })
  items!: KindEstimatesDto[];
  @ApiProperty({ description: 'There are more than these' }) more!: boolean;
}

export class UsageCostDto implements CostView {
  @ApiProperty({ ...idOrNull, description: 'null for a project, as its title, type and time are' })
  taskId!: string | null;
  @ApiProperty(textOrNull) title!: string | null;
  @ApiProperty(textOrNull) taskType!: string | null;
  @ApiProperty({ ...time, nullable: true }) completedAt!: string | null;
  @ApiProperty({ ...idOrNull, description: 'null for what belongs to none' })
  projectId!: string | null;
  @ApiProperty(textOrNull) projectName!: string | null;
  @ApiProperty({ ...count, description: 'Completed tasks' }) tasks!: number;
  @ApiProperty({ ...count, description: 'Their runs, failed ones among them' }) runs!: number;
  @ApiProperty({ ...tokens, description: 'What all of these runs used' }) usedTokens!: string;
  @ApiProperty({ example: '0.042', description: 'In USD, by the prices of the models' })
  costUsd!: string;
}

export class UsageCostPageDto {
  @ApiProperty({ type: [UsageCostDto] }) items!: UsageCostDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
