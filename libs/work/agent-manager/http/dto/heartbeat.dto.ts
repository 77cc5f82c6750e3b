import { Transform } from 'class-transformer';
import { WholeId, JsonObject, Nested, OneOf, Rounded, Text } from '#lib/http';
import { HEARTBEAT_STATUSES, type HeartbeatStatus } from '../../domain/health.js';
import type { HeartbeatBody } from '../../heartbeats/heartbeat-buffer.js';

const MAX_INTEGER = 2_147_483_647;

/** Words of workers that report their activity instead of their health: all of them are healthy. */
const WELL: readonly unknown[] = ['idle', 'busy', 'working', 'running'];

export class AgentMetricsDto {
  @Rounded(0, MAX_INTEGER, { optional: true, nullable: true })
  cpuPercent?: number | null;

  @Rounded(0, MAX_INTEGER, { optional: true, nullable: true })
  memoryMb?: number | null;

  @Rounded(0, MAX_INTEGER, { optional: true, nullable: true })
  tasksCompleted?: number | null;
}

export class HeartbeatRequestDto implements HeartbeatBody {
  @Transform(({ value }): unknown => (WELL.includes(value) ? 'healthy' : value))
  @OneOf(HEARTBEAT_STATUSES, {
    example: 'healthy',
    description:
      'The state of the agent. `idle`, `busy`, `working` and `running` count as healthy.',
  })
  status!: HeartbeatStatus;

  @WholeId({
    optional: true,
    nullable: true,
    description:
      'The current task, which the health shows. If the gateway sends no heartbeats, it ' +
      'also renews the lease of that task.',
  })
  currentTaskId?: string | null;

  @Rounded(0, 100, { optional: true, nullable: true })
  progressPercent?: number | null;

  @Text({ min: 0, max: 1_000, optional: true, nullable: true, example: 'Running tsc --noEmit' })
  currentStep?: string | null;

  @Rounded(0, MAX_INTEGER, { optional: true, nullable: true })
  memoryMb?: number | null;

  @Rounded(0, MAX_INTEGER, {
    optional: true,
    nullable: true,
    description:
      'The CPU usage in percent of one core. It exceeds 100 if the agent uses several ' + 'cores.',
  })
  cpuPercent?: number | null;

  @JsonObject({ optional: true, description: 'Metadata of up to 16 KiB.' })
  metadata?: Record<string, unknown>;

  @Nested(() => AgentMetricsDto, {
    optional: true,
    description:
      'Another form of memoryMb and cpuPercent. tasksCompleted becomes part of the ' + 'metadata.',
  })
  metrics?: AgentMetricsDto;

  @Text({
    max: 100,
    optional: true,
    description: 'The server ignores it, because the path names the agent.',
  })
  workerId?: string;

  @Text({ max: 100, optional: true, description: 'The server ignores it and uses its own clock.' })
  timestamp?: string;
}

/** The heartbeat with the values of `metrics` in their usual fields. */
export function withMetrics({ metrics = {}, ...body }: HeartbeatRequestDto): HeartbeatBody {
  const { cpuPercent, memoryMb, tasksCompleted } = metrics;
  const counted = tasksCompleted === undefined ? {} : { tasksCompleted };
  return {
    ...body,
    cpuPercent: body.cpuPercent ?? cpuPercent,
    memoryMb: body.memoryMb ?? memoryMb,
    metadata: { ...counted, ...body.metadata },
  };
}
