import { ApiProperty } from '@nestjs/swagger';
import { Int } from '#lib/http';
import type { TaskCounts } from '#lib/transitions';
import type { Spread, TaskThroughputView } from '../../queries/task-throughput.js';

export class ThroughputQuery {
  @Int(1, 1_440, { optional: true, description: 'The minutes to look back; 60 by default' })
  minutes: number = 60;
}

export class ThroughputSpreadDto implements Spread {
  @ApiProperty({ example: 0.4, description: 'The median in seconds' })
  p50!: number;

  @ApiProperty({ example: 12.5, description: 'The 95th percentile in seconds' })
  p95!: number;
}

export class ThroughputStepDto {
  @ApiProperty({ format: 'date-time' }) from!: string;
  @ApiProperty({ type: 'integer' }) completed!: number;
  @ApiProperty({ type: 'integer' }) failed!: number;
}

export class ThroughputDto implements TaskThroughputView {
  @ApiProperty({ type: 'integer', description: 'The number of tasks that completed in this time' })
  completed!: number;

  @ApiProperty({
    type: 'integer',
    description: 'The number of tasks that failed for good in this time and still are FAILED',
  })
  failed!: number;

  @ApiProperty({
    type: ThroughputSpreadDto,
    nullable: true,
    description: 'The time from ready to the start of the last run, or null without tasks',
  })
  wait!: ThroughputSpreadDto | null;

  @ApiProperty({
    type: ThroughputSpreadDto,
    nullable: true,
    description: 'The duration of the last run, or null without tasks',
  })
  run!: ThroughputSpreadDto | null;

  @ApiProperty({
    type: [ThroughputStepDto],
    description: 'Thirty intervals of equal length, the oldest first. The last one is not over.',
  })
  steps!: ThroughputStepDto[];
}

const count = { type: 'integer' } as const;

export class TaskCountsDto implements TaskCounts {
  @ApiProperty({ ...count, description: 'PENDING tasks that an agent can take' }) ready!: number;
  @ApiProperty({ ...count, description: 'PENDING tasks that wait for others, a start or a slot' })
  blocked!: number;
  @ApiProperty(count) assigned!: number;
  @ApiProperty(count) running!: number;
  @ApiProperty(count) paused!: number;
  @ApiProperty({ ...count, description: 'ABORTED tasks with a time of retry' }) retrying!: number;
}
