import { ApiProperty } from '@nestjs/swagger';
import { Flag, Int, OneOf, PageQuery, Text, Timestamp } from '#lib/http';
import type { LimitsView, LimitsRequest } from '../limits/limits.service.js';
import type { EndedPauseView, PauseView } from '../pauses/pause-view.js';
import type { PauseRequest } from '../pauses/pauses.service.js';

const SCOPES = ['workspace', 'task_type', 'everything'] as const;
type PauseScope = (typeof SCOPES)[number];
const MANY = 2_000_000_000;
const MAX_QUEUE_DEPTH =
  'Tasks that may wait. 0: no limit; null: MAX_QUEUE_DEPTH_PER_WORKSPACE of the installation';
const SPAWNS_PER_MINUTE =
  'Sessions of push agents that may be spawned in a minute. 0: none at all; null: no limit of its own, only ' +
  'that of the installation';
const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };

export class CreatePauseDto implements PauseRequest {
  @OneOf(SCOPES, { description: 'everything: of the whole installation, for operators' })
  scope!: PauseScope;

  @Text({ max: 100, optional: true, description: 'With the scope task_type: which' })
  taskType?: string;

  @Text({ max: 1_000, example: 'The licence server is down' })
  reason!: string;

  @Timestamp({ optional: true, description: 'When it ends by itself' })
  until?: string;
}

export class ListPausesQuery extends PageQuery {
  @Flag({ optional: true, description: 'Those that have ended, too' })
  ended?: boolean;
}

export class PauseDto implements PauseView {
  @ApiProperty(id) id!: string;
  @ApiProperty({ enum: SCOPES }) scope!: PauseScope;
  @ApiProperty({ type: String, nullable: true }) taskType!: string | null;
  @ApiProperty() reason!: string;
  @ApiProperty({ example: 'user:0190…', description: 'Or api_key:<id>' }) pausedBy!: string;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty({ ...time, nullable: true }) until!: string | null;
  @ApiProperty({ ...time, nullable: true }) endedAt!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'As pausedBy; null: its time was over',
  })
  endedBy!: string | null;
}

export class EndedPauseDto extends PauseDto implements EndedPauseView {
  @ApiProperty({
    type: [String],
    format: 'uuid',
    description: 'Other pauses that still hold tasks which this one covered; each has to be ended',
  })
  remaining!: string[];
}

export class PausePageDto {
  @ApiProperty({ type: [PauseDto] }) items!: PauseDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class SetLimitsDto implements LimitsRequest {
  @Int(0, MANY, { nullable: true, description: MAX_QUEUE_DEPTH })
  maxQueueDepth!: number | null;

  @Int(0, 1_000_000, { nullable: true, description: SPAWNS_PER_MINUTE })
  spawnsPerMinute!: number | null;
}

export class LimitsDto implements LimitsView {
  @ApiProperty(id) workspaceId!: string;
  @ApiProperty({ type: 'integer', nullable: true, description: MAX_QUEUE_DEPTH })
  maxQueueDepth!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: SPAWNS_PER_MINUTE })
  spawnsPerMinute!: number | null;
  @ApiProperty({ type: 'integer', description: 'What holds in the end; 0: no limit' })
  effectiveMaxQueueDepth!: number;
  @ApiProperty({
    type: 'integer',
    description: 'SPAWNS_PER_MINUTE: of all workspaces together, beside their own; 0: no limit',
  })
  installationSpawnsPerMinute!: number;
  @ApiProperty({ type: 'integer', description: '0 until somebody has set a limit' })
  version!: number;
}
