import { ApiProperty } from '@nestjs/swagger';
import type { CoordinatorStatus, StepView } from '../../domain/status.js';
import { STEP_NAMES } from '../../patterns/index.js';

const count = { type: 'integer' } as const;

class CoordinatorStatsDto {
  @ApiProperty(count) pendingTasks!: number;
  @ApiProperty(count) runningTasks!: number;
  @ApiProperty({
    ...count,
    description: 'Agents whose last sign of life is within their threshold, or that need none.',
  })
  healthyAgents!: number;
  @ApiProperty({
    ...count,
    description: 'Agents in ERROR, or whose last sign of life is older than their threshold.',
  })
  staleAgents!: number;
}

class QueueCountsDto {
  @ApiProperty({ ...count, description: 'PENDING tasks that an agent can take.' }) ready!: number;
  @ApiProperty({ ...count, description: 'PENDING tasks that wait for others, a start or a slot.' })
  blocked!: number;
  @ApiProperty({ ...count, description: 'ABORTED tasks with a time of retry.' }) retrying!: number;
  @ApiProperty(count) assigned!: number;
  @ApiProperty(count) paused!: number;
}

class CycleStepDto implements StepView {
  @ApiProperty({ enum: STEP_NAMES }) step!: string;
  @ApiProperty({
    ...count,
    description: 'The number of rows that the step changed, in the workspaces that you can see.',
  })
  moved!: number;
  @ApiProperty() durationMs!: number;
  @ApiProperty({ type: String, nullable: true, description: 'The code of the error, or null.' })
  error!: string | null;
}

class CoordinatorCycleDto {
  @ApiProperty({ format: 'date-time' }) startedAt!: string;
  @ApiProperty() durationMs!: number;
  @ApiProperty({ type: [CycleStepDto] }) steps!: CycleStepDto[];
}

export class CoordinatorStatusDto implements CoordinatorStatus {
  @ApiProperty({ description: 'Whether a server leads now.' }) active!: boolean;
  @ApiProperty({ type: String, nullable: true, example: 'coord-abc123' })
  instanceId!: string | null;
  @ApiProperty({
    type: [String],
    description: 'Figures of the workspaces that you can see: yours, or all for operators.',
  })
  workspaces!: string[];
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastHeartbeat!: string | null;
  @ApiProperty({ type: CoordinatorStatsDto }) stats!: CoordinatorStatsDto;
  @ApiProperty({ type: QueueCountsDto }) queue!: QueueCountsDto;
  @ApiProperty({ description: 'A 64-bit number that rises with each change of leader.' })
  epoch!: string;
  @ApiProperty(count) cycleCount!: number;
  @ApiProperty({ type: CoordinatorCycleDto, nullable: true })
  lastCycle!: CoordinatorCycleDto | null;
}
