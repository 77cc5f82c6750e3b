import { ApiProperty } from '@nestjs/swagger';
import { Int } from '#lib/http';
import type { TaskCounts } from '#lib/transitions';
import type { Spread, TaskThroughputView } from '../../queries/task-throughput.js';

export class ThroughputQuery {
  @Int(1, 1_440, { optional: true, description: 'How far back; 60 unless given' })
  minutes: number = 60;
}

export class ThroughputSpreadDto implements Spread {
  @ApiProperty({ example: 0.4, description: 'Seconds that half of the tasks took at most' })
  p50!: number;

  @ApiProperty({ example: 12.5, description: 'Seconds that 95 % of the tasks took at most' })
  p95!: number;
}

export class ThroughputStepDto {
  @ApiProperty({ format: 'date-time' }) from!: string;
  @ApiProperty({ type: 'integer' }) completed!: number;
}

export class ThroughputDto implements TaskThroughputView {
  @ApiProperty({ type: 'integer', description: 'Tasks that completed in this time' })
  completed!: number;

  @ApiProperty({
    type: ThroughputSpreadDto,
    nullable: true,
    description: 'From when a task could be taken to the start of its last run; null without tasks',
  })
  wait!: ThroughputSpreadDto | null;

  @ApiProperty({
    type: ThroughputSpreadDto,
    nullable: true,
    description: 'How long the last run took; null without tasks',
  })
  run!: ThroughputSpreadDto | null;

  @ApiProperty({
    type: [ThroughputStepDto],
    description: 'Thirty of equal length, the oldest first; the last one is under way',
  })
  steps!: ThroughputStepDto[];
}

const count = { type: 'integer' } as const;

export class TaskCountsDto implements TaskCounts {
  @ApiProperty({ ...count, description: 'PENDING, and an agent may take them' }) ready!: number;
  @ApiProperty({ ...count, description: 'PENDING, and waiting for other tasks' }) blocked!: number;
  @ApiProperty(count) assigned!: number;
  @ApiProperty(count) running!: number;
  @ApiProperty(count) paused!: number;
  @ApiProperty({ ...count, description: 'ABORTED, with a time of retry' }) retrying!: number;
}
