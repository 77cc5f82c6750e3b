import { ApiProperty } from '@nestjs/swagger';
import { Int, NestedList } from '#lib/http';
import {
  ADVICE,
  type Advice,
  BUDGET_POLICIES,
  BUDGET_SCOPES,
  type BudgetPolicy,
  type BudgetScope,
  type BudgetStanding,
  type Efficiency,
  type RunBudgetView,
  type UsageOutcome,
} from '#lib/budgets';
import { RunReportDto } from './run-report.dto.js';
import { MAX_REPORTS, UsageReportDto } from './usage-report.dto.js';

export class ReportUsageDto extends RunReportDto {
  @NestedList(() => UsageReportDto, { minItems: 1, maxItems: MAX_REPORTS })
  reports!: UsageReportDto[];
}

const tokens = { type: String, example: '1000000' };

export class BudgetStandingDto implements BudgetStanding {
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

const advice = {
  enum: ADVICE,
  description:
    'The advice. `warn`: more than 90 % of a budget is consumed. `stop`: a budget whose ' +
    'policy is not `finish` is used up.',
};

export class UsageOutcomeDto implements UsageOutcome {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty({ type: 'integer', description: 'The number of counted reports' }) accepted!: number;
  @ApiProperty({ type: 'integer', description: 'The number of reports that were known already' })
  repeated!: number;
  @ApiProperty(advice) advice!: Advice;
  @ApiProperty({ type: [BudgetStandingDto], description: 'The budgets that cover the run now' })
  budgets!: BudgetStandingDto[];
}

export class RunBudgetQuery {
  @Int(0, 1_000_000_000, {
    optional: true,
    description:
      'The number of lines that the commit changes. With it, the answer includes ' +
      '`efficiency`.',
  })
  linesChanged?: number;
}

export class EfficiencyDto implements Efficiency {
  @ApiProperty({ type: 'integer' }) linesChanged!: number;
  @ApiProperty({ ...tokens, description: 'The expected tokens: 150 per line' })
  expectedTokens!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 0.72,
    description: 'expectedTokens divided by taskUsedTokens. It is null if nothing was used.',
  })
  ratio!: number | null;
  @ApiProperty({
    description: 'Whether the ratio is at least 0.5. If not, the advice is `warn` at least.',
  })
  isEfficient!: boolean;
}

export class RunBudgetDto implements RunBudgetView {
  @ApiProperty({ type: String, format: 'uuid' }) runId!: string;
  @ApiProperty({ type: String, format: 'uuid' }) taskId!: string;
  @ApiProperty() isLive!: boolean;
  @ApiProperty({ ...tokens, description: 'The estimated tokens of the task' })
  estimatedTokens!: string;
  @ApiProperty({
    ...tokens,
    description: 'The tokens that the run holds of each budget that covers it',
  })
  heldTokens!: string;
  @ApiProperty(tokens) usedTokens!: string;
  @ApiProperty({ example: '0.042', description: 'The cost in USD, by the prices of the models' })
  usedCostUsd!: string;
  @ApiProperty({ ...tokens, description: 'The tokens that all runs of the task used' })
  taskUsedTokens!: string;
  @ApiProperty(advice) advice!: Advice;
  @ApiProperty({
    description: 'The reason, as a sentence for people',
    example: 'No budget covers it: go on.',
  })
  message!: string;
  @ApiProperty({ type: EfficiencyDto, nullable: true }) efficiency!: EfficiencyDto | null;
  @ApiProperty({ type: [BudgetStandingDto], description: 'The budgets that cover the run now' })
  budgets!: BudgetStandingDto[];
}
