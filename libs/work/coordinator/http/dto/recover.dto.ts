import { ApiProperty } from '@nestjs/swagger';
import { Flag, WholeId } from '#lib/http';
import {
  COUNTER_NAMES,
  type CounterName,
  STEP_NAMES,
  type StepName,
} from '../../patterns/index.js';
import type { RecoveryRequest, RecoveryResult } from '../../recovery/recovery-result.js';

export class RecoveryRequestDto implements RecoveryRequest {
  @WholeId({
    optional: true,
    description:
      'The workspace to sweep. If it is left out, the sweep covers all workspaces that you ' +
      'can see; for members, that is their own.',
  })
  workspaceId?: string;

  @Flag({
    optional: true,
    description:
      'Whether to sweep all workspaces, whatever X-Workspace-Id names. Only operators can ' +
      'use it.',
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
  @ApiProperty({
    enum: STEP_NAMES,
    isArray: true,
    description: 'The steps that failed. The other steps ran.',
  })
  failedSteps!: StepName[];
}
