import { Id, Int, JsonObject, OneOf, Text } from '#lib/http';
import { HEARTBEAT_STATUSES, type HeartbeatStatus } from '../../domain/health.js';
import type { HeartbeatBody } from '../../heartbeats/heartbeat-buffer.js';

const MAX_INTEGER = 2_147_483_647;

export class HeartbeatDto implements HeartbeatBody {
  @OneOf(HEARTBEAT_STATUSES, { example: 'healthy' })
  status!: HeartbeatStatus;

  @Id({
    optional: true,
    nullable: true,
    description: 'Shown with its health; nothing follows from it.',
  })
  currentTaskId?: string | null;

  @Int(0, 100, { optional: true, nullable: true })
  progressPercent?: number | null;

  @Text({ min: 0, max: 1_000, optional: true, nullable: true, example: 'Running tsc --noEmit' })
  currentStep?: string | null;

  @Int(0, MAX_INTEGER, { optional: true, nullable: true })
  memoryMb?: number | null;

  @Int(0, MAX_INTEGER, {
    optional: true,
    nullable: true,
    description: 'Percent of one core: above 100 when it uses several.',
  })
  cpuPercent?: number | null;

  @JsonObject({ optional: true, description: 'Up to 16 KiB.' })
  metadata?: Record<string, unknown>;
}
