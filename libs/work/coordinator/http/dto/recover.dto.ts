import { ApiProperty } from '@nestjs/swagger';
import { Flag, Id } from '#lib/http';
import {
  COUNTER_NAMES,
  type CounterName,
  STEP_NAMES,
  type StepName,
} from '../../patterns/index.js';
import type { RecoveryRequest, RecoveryResult } from '../../recovery-result.js';

export class RecoveryRequestDto implements RecoveryRequest {
  @Id({
    optional: true,
    description:
      'The workspace to sweep; all that you may see if left out: for members, their own.',
  })
  workspaceId?: string;

  @Flag({
    optional: true,
    description:
      'All workspaces, whatever X-Workspace-Id names; for operators of the installation only.',
  })
  allWorkspaces?: boolean;
}

export class RecoveryDto implements RecoveryResult {
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) workspaceId!: string | null;
  @ApiProperty({ type: 'integer', description: 'The sum of the counts.' }) recovered!: number;
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
