import { ApiProperty } from '@nestjs/swagger';
import type { PastPeriodView } from '../periods/past-periods.js';

const time = { type: String, format: 'date-time' } as const;
const tokens = { type: String, example: '750000' } as const;

export class PastPeriodDto implements PastPeriodView {
  @ApiProperty(time) periodStart!: string;
  @ApiProperty({ ...time, description: 'The end, which is not part of the period' })
  periodEnd!: string;

  @ApiProperty({ ...tokens, description: 'The tokens that the scope could use in the period' })
  allocated!: string;

  @ApiProperty({ ...tokens, description: 'The tokens that the scope used in the period' })
  consumed!: string;
}

export class PastPeriodPageDto {
  @ApiProperty({ type: [PastPeriodDto] }) items!: PastPeriodDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
