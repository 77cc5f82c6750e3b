import { ApiProperty } from '@nestjs/swagger';
import type { PartState, Readiness, SystemHealth } from '#lib/observability';

const PART_STATES: PartState[] = [
  'connected',
  'disconnected',
  'refusing_changes',
  'not_configured',
];

export class LivenessDto {
  @ApiProperty({ enum: ['alive'] }) status!: 'alive';
}

export class ReadinessDto implements Readiness {
  @ApiProperty({ enum: ['ready'] }) status!: 'ready';
  @ApiProperty({ enum: PART_STATES }) database!: PartState;
  @ApiProperty({ enum: PART_STATES }) valkey!: PartState;
}

class CoordinatorHealthDto {
  @ApiProperty({ description: 'Whether a server leads now.' }) active!: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) lastCycle!: string | null;
  @ApiProperty({ type: 'integer' }) cycleCount!: number;
}

export class SystemHealthDto implements SystemHealth {
  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy'] }) status!: SystemHealth['status'];
  @ApiProperty({ type: CoordinatorHealthDto }) coordinator!: CoordinatorHealthDto;
  @ApiProperty({ enum: PART_STATES }) database!: PartState;
  @ApiProperty({ enum: PART_STATES }) valkey!: PartState;
  @ApiProperty({ enum: ['reachable', 'unreachable', 'unknown', 'not_configured'] })
  gateway!: SystemHealth['gateway'];
  @ApiProperty({
    type: [String],
    required: false,
    description:
      'Conditions that will soon become problems, such as API keys in use that expire ' +
      'within 14 days.',
  })
  warnings?: string[];
}
