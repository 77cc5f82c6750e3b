import { ApiProperty } from '@nestjs/swagger';
import { Flag, Int, OneOf, PageQuery, Text, Timestamp } from '#lib/http';
import type { LimitsView, LimitsRequest } from '../limits/limits.js';
import type { EndedPauseView, PauseView } from '../pauses/pause-view.js';
import type { PauseRequest } from '../pauses/pauses.js';

const SCOPES = ['workspace', 'task_type', 'everything'] as const;
type PauseScope = (typeof SCOPES)[number];
const MANY = 2_000_000_000;
const MAX_QUEUE_DEPTH =
  'The maximum number of waiting tasks. 0 means no limit, ' +
  'null means MAX_QUEUE_DEPTH_PER_WORKSPACE of the installation.';
const SPAWNS_PER_MINUTE =
  'The maximum number of sessions of push agents that start in a minute. 0 means none. ' +
  'null means no own limit, only the limit of the installation.';
const MAX_ARTIFACT_MB =
  'The maximum size of all artifacts in MiB. 0 means none. ' +
  'null means ARTIFACT_QUOTA_MB of the installation.';
const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };

export class CreatePauseDto implements PauseRequest {
  @OneOf(SCOPES, {
    description: '`everything` pauses the whole installation. Only operators can use it.',
  })
  scope!: PauseScope;

  @Text({
    max: 100,
    optional: true,
    description: 'The task type. It is required with the scope task_type.',
  })
  taskType?: string;

  @Text({ max: 1_000, example: 'The licence server is down' })
  reason!: string;

  @Timestamp({ optional: true, description: 'The time at which the pause ends by itself' })
  until?: string;

  @Flag({
    optional: true,
    description:
      'Whether the pause also ends the live runs and sessions of its tasks, which return to the ' +
      'queue without counting an attempt: a kill switch. False by default.',
  })
  endRuns?: boolean;
}

export class ListPausesQuery extends PageQuery {
  @Flag({ optional: true, description: 'Whether to include pauses that have ended' })
  ended?: boolean;
}

export class PauseDto implements PauseView {
  @ApiProperty(id) id!: string;
  @ApiProperty({ enum: SCOPES }) scope!: PauseScope;
  @ApiProperty({ type: String, nullable: true }) taskType!: string | null;
  @ApiProperty() reason!: string;
  @ApiProperty({
    example: 'user:0190…',
    description: 'The caller that created the pause, such as api_key:<id>',
  })
  pausedBy!: string;
  @ApiProperty({ description: 'Whether the pause also ends the live runs of its tasks' })
  endRuns!: boolean;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty({ ...time, nullable: true }) until!: string | null;
  @ApiProperty({ ...time, nullable: true }) endedAt!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The caller that ended the pause, or null if it expired',
  })
  endedBy!: string | null;
}

export class EndedPauseDto extends PauseDto implements EndedPauseView {
  @ApiProperty({
    type: [String],
    format: 'uuid',
    description: 'Other pauses that still hold tasks of this pause. End each of them.',
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

  @Int(0, 1_073_741_824, {
    nullable: true,
    optional: true,
    description: `${MAX_ARTIFACT_MB} If it is left out, it stays as it is.`,
  })
  maxArtifactMb?: number | null;
}

export class LimitsDto implements LimitsView {
  @ApiProperty(id) workspaceId!: string;
  @ApiProperty({ type: 'integer', nullable: true, description: MAX_QUEUE_DEPTH })
  maxQueueDepth!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: SPAWNS_PER_MINUTE })
  spawnsPerMinute!: number | null;
  @ApiProperty({ type: 'integer', nullable: true, description: MAX_ARTIFACT_MB })
  maxArtifactMb!: number | null;
  @ApiProperty({ type: 'integer', description: 'The limit that applies. 0 means no limit.' })
  effectiveMaxQueueDepth!: number;
  @ApiProperty({
    type: 'integer',
    description:
      'SPAWNS_PER_MINUTE, the limit of all workspaces together. It applies beside their ' +
      'own limits. 0 means no limit.',
  })
  installationSpawnsPerMinute!: number;
  @ApiProperty({
    type: 'integer',
    description: 'The version of the limits. It is 0 until a limit is set.',
  })
  version!: number;
}
