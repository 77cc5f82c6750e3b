import { ApiProperty } from '@nestjs/swagger';
import { NestedList } from '#lib/http';
import {
  ADVICE,
  type Advice,
  BUDGET_POLICIES,
  BUDGET_SCOPES,
  type BudgetPolicy,
  type BudgetScope,
  type BudgetStanding,
  type UsageOutcome,
} from '#lib/usage-budget';
import { RunReportDto } from './run-report.dto.js';
import { MAX_REPORTS, UsageReportDto } from './usage-report.dto.js';

export class UsageDto extends RunReportDto {
  @NestedList(() => UsageReportDto, { minItems: 1, maxItems: MAX_REPORTS })
  reports!: UsageReportDto[];
}

const tokens = { type: String, example: '1000000' };

export class BudgetStandingDoc implements BudgetStanding {
  @ApiProperty({ type: String, format: 'uuid' }) budgetId!: string;
  @ApiProperty({ enum: BUDGET_SCOPES }) scope!: BudgetScope;
  @ApiProperty({ type: String, format: 'uuid' }) scopeId!: string;
  @ApiProperty(tokens) allocated!: string;
  @ApiProperty(tokens) consumed!: string;
  @ApiProperty(tokens) reserved!: string;
  @ApiProperty(tokens) available!: string;
  @ApiProperty({ type: 'integer' }) percentUsed!: number;
  @ApiProperty({ enum: BUDGET_POLICIES }) policy!: BudgetPolicy;
}

export class UsageOutcomeDto implements UsageOutcome {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty({ type: 'integer', description: 'Reports that were counted' }) accepted!: number;
  @ApiProperty({ type: 'integer', description: 'Reports that were known already' })
  repeated!: number;
  @ApiProperty({
    enum: ADVICE,
    description:
      'warn: more than 90 % of a budget is consumed; stop: all of one whose policy is not `finish`',
  })
  advice!: Advice;
  @ApiProperty({ type: [BudgetStandingDoc], description: 'Those that cover the run now' })
  budgets!: BudgetStandingDoc[];
}
