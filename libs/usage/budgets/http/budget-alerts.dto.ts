import { ApiProperty } from '@nestjs/swagger';
import type { BudgetAlertView } from '../alerts/budget-alerts.js';

const tokens = { type: String, example: '750000' } as const;

export class BudgetAlertDto implements BudgetAlertView {
  @ApiProperty({ format: 'date-time' }) at!: string;

  @ApiProperty({ enum: ['warning', 'critical'], description: 'critical: it is used up' })
  level!: 'warning' | 'critical';

  @ApiProperty({ enum: [50, 75, 90, 100], description: 'The step that was reached, in percent' })
  threshold!: number;

  @ApiProperty({ type: 'integer', description: 'consumed of allocated then, rounded down' })
  percentUsed!: number;

  @ApiProperty({ ...tokens, description: 'Tokens of the budget then' }) allocated!: string;
  @ApiProperty({ ...tokens, description: 'Tokens used then' }) consumed!: string;
  @ApiProperty({ example: '75 % of the budget of the project is used' }) message!: string;
}

export class BudgetAlertPageDto {
  @ApiProperty({ type: [BudgetAlertDto] }) items!: BudgetAlertDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
