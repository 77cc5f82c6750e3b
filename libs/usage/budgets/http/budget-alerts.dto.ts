import { ApiProperty } from '@nestjs/swagger';
import type { BudgetAlertView } from '../alerts/budget-alerts.js';

const tokens = { type: String, example: '750000' } as const;

export class BudgetAlertDto implements BudgetAlertView {
  @ApiProperty({ format: 'date-time' }) at!: string;

  @ApiProperty({
    enum: ['warning', 'critical'],
    description: 'The severity. `critical` means that the budget is used up.',
  })
  level!: 'warning' | 'critical';

  @ApiProperty({
    enum: [50, 75, 90, 100],
    description: 'The threshold that the budget reached, in percent',
  })
  threshold!: number;

  @ApiProperty({
    type: 'integer',
    description: 'The consumed share of the budget at that time, in percent, rounded down',
  })
  percentUsed!: number;

  @ApiProperty({ ...tokens, description: 'The allocated tokens at that time' }) allocated!: string;
  @ApiProperty({ ...tokens, description: 'The consumed tokens at that time' }) consumed!: string;
  @ApiProperty({ example: '75 % of the budget of the project is used' }) message!: string;
}

export class BudgetAlertPageDto {
  @ApiProperty({ type: [BudgetAlertDto] }) items!: BudgetAlertDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
