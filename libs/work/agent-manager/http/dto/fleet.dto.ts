import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { Fleet } from '../../agents/fleet.service.js';
import { type Slot, SLOT_STATUSES, type SlotMetadata, type SlotStatus } from '../../domain/slot.js';

const milliseconds = { type: 'integer', format: 'int64' } as const;
const text = { type: String, nullable: true } as const;

class SlotMetadataDto implements SlotMetadata {
  @ApiProperty({ type: 'integer', nullable: true, description: 'Null if the slot is offline' })
  workerPid!: number | null;
  @ApiProperty(text) workerVersion!: string | null;
  @ApiProperty({ type: 'integer', description: 'The number of earlier starts' })
  restartCount!: number;
  @ApiProperty({ ...milliseconds, required: false }) taskStartedAt?: number;
  @ApiProperty({
    required: false,
    description: '`graceful-shutdown`, `stale-heartbeat`, or the reason of the termination',
  })
  offlineReason?: string;
}

class SlotDto implements Slot {
  @ApiProperty({ description: 'The name of the agent, or its id if another agent has the name' })
  slot!: string;
  @ApiProperty({ enum: SLOT_STATUSES }) status!: SlotStatus;
  @ApiProperty({ ...text, format: 'uuid', description: 'The oldest live task of the agent' })
  task!: string | null;
  @ApiProperty(text) taskTitle!: string | null;
  @ApiProperty({ ...text, description: 'The key of the session, or the id of the run' })
  sessionId!: string | null;
  @ApiProperty({ ...milliseconds, description: 'The last sign of life, in ms since 1970' })
  lastUpdate!: number;
  @ApiProperty({ ...milliseconds, description: 'The creation of the agent, in ms since 1970' })
  startedAt!: number;
  @ApiProperty({ type: SlotMetadataDto }) metadata!: SlotMetadataDto;
}

@ApiExtraModels(SlotDto)
export class FleetDto implements Fleet {
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(SlotDto) },
    description: 'The slots by their names. A terminated agent stays for a day.',
  })
  workers!: Record<string, SlotDto>;
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
