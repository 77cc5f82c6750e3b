import { ApiProperty } from '@nestjs/swagger';
import { Id } from '#lib/http';
import { COUNTER_NAMES, type CounterName, type RecoveryResult } from '../../domain/recovery.js';
import { STEP_NAMES, type StepName } from '../../steps/step.js';

export class RecoverDto {
  @Id({ optional: true, description: 'The workspace to count; all that you may see if left out.' })
  workspaceId?: string;
}

export class RecoveryDto implements RecoveryResult {
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) workspaceId!: string | null;
  @ApiProperty({ type: 'integer', description: 'Rows moved in all.' }) recovered!: number;
  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(COUNTER_NAMES.map((name) => [name, { type: 'integer' }])),
    required: [...COUNTER_NAMES],
  })
  counts!: Record<CounterName, number>;
  @ApiProperty() durationMs!: number;
  @ApiProperty({ enum: STEP_NAMES, isArray: true, description: 'The other steps ran.' })
  failedSteps!: StepName[];
}
