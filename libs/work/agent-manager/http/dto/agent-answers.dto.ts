import { ApiProperty } from '@nestjs/swagger';
import { AGENT_MODES, type AgentMode, type AgentView } from '../../domain/agent-view.js';
import {
  type AgentHealth,
  HEALTH_STATUSES,
  HEARTBEAT_STATUSES,
  type HealthStatus,
  type HeartbeatStatus,
  type KeptHeartbeat,
} from '../../domain/health.js';
import { AGENT_STATUSES, type AgentStatus } from '#lib/transitions';
import type { AgentToken } from '../../agents/agent-tokens.js';
import type { HeartbeatAnswer } from '../../heartbeats/heartbeats.js';

const id = { type: String, format: 'uuid' };
const time = { type: String, format: 'date-time' };
const json = { type: 'object', additionalProperties: true } as const;
const integer = { type: 'integer' } as const;

/** An agent in every answer with one. */
export class AgentDto implements AgentView {
  @ApiProperty(id) id!: string;
  @ApiProperty(id) workspaceId!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ enum: AGENT_MODES }) mode!: AgentMode;
  @ApiProperty({ type: String, nullable: true }) model!: string | null;
  @ApiProperty({ enum: AGENT_STATUSES }) status!: AgentStatus;
  @ApiProperty({
    type: [String],
    description:
      'The capabilities. They include `agent:` and the id once a task was assigned to the ' +
      'agent.',
  })
  capabilities!: string[];
  @ApiProperty({
    type: [String],
    description: 'The task types that the agent takes. An empty list means all.',
  })
  taskTypes!: string[];
  @ApiProperty({
    type: [String],
    description: 'The agent takes only tasks that require all of these capabilities',
  })
  dedicatedTo!: string[];
  @ApiProperty() coordinatorEnabled!: boolean;
  @ApiProperty(integer) maxConcurrentTasks!: number;
  @ApiProperty({ ...integer, description: 'The number of runs that the agent holds' })
  liveRuns!: number;
  @ApiProperty(integer) heartbeatIntervalSeconds!: number;
  @ApiProperty(integer) staleThresholdSeconds!: number;
  @ApiProperty({ type: String, nullable: true }) hostName!: string | null;
  @ApiProperty({ ...integer, nullable: true }) pid!: number | null;
  @ApiProperty({ type: String, nullable: true }) agentVersion!: string | null;
  @ApiProperty(integer) restartCount!: number;
  @ApiProperty(json) metadata!: Record<string, unknown>;
  @ApiProperty({
    type: [String],
    description:
      'The command of the sessions of a push agent. The command of a pull agent is stored ' +
      'but never started.',
  })
  command!: string[];
  @ApiProperty({ ...json, description: 'The names of the secrets, each with "[redacted]"' })
  secrets!: Record<string, string>;
  @ApiProperty({
    ...time,
    nullable: true,
    description:
      'The server could not start the command. It assigns no tasks until this time or the ' +
      'next registration.',
  })
  restingUntil!: string | null;
  @ApiProperty({ ...time, nullable: true }) lastSeenAt!: string | null;
  @ApiProperty({
    description:
      'Whether it has sent a heartbeat itself. A pull agent is STARTING until its first heartbeat or claim.',
  })
  hasSentHeartbeat!: boolean;
  @ApiProperty({ type: String, nullable: true }) terminationReason!: string | null;
  @ApiProperty({ ...time, nullable: true }) drainingAt!: string | null;
  @ApiProperty({ ...time, nullable: true }) errorAt!: string | null;
  @ApiProperty({ ...time, nullable: true }) terminatedAt!: string | null;
  @ApiProperty(integer) version!: number;
  @ApiProperty({ ...id, nullable: true }) createdBy!: string | null;
  @ApiProperty(time) createdAt!: string;
  @ApiProperty(time) updatedAt!: string;
  @ApiProperty({ ...id, nullable: true, description: 'The id of the process that registered last' })
  bootId!: string | null;
}

export class AgentPageDto {
  @ApiProperty({ type: [AgentDto] }) items!: AgentDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class AgentHealthDto implements AgentHealth {
  @ApiProperty(id) agentId!: string;
  @ApiProperty({
    enum: HEALTH_STATUSES,
    description: 'The health. `unknown` means that the agent never sent a heartbeat.',
  })
  status!: HealthStatus;
  @ApiProperty({ enum: AGENT_STATUSES }) agentStatus!: AgentStatus;
  @ApiProperty({ ...time, nullable: true }) lastSeenAt!: string | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'The seconds since the last sign of life',
  })
  ageSeconds!: number | null;
  @ApiProperty({
    ...time,
    nullable: true,
    description: 'The time at which the next heartbeat is due; null if none is expected',
  })
  nextExpectedAt!: string | null;
  @ApiProperty(integer) heartbeatIntervalSeconds!: number;
  @ApiProperty(integer) staleThresholdSeconds!: number;
  @ApiProperty(integer) liveRuns!: number;
  @ApiProperty(integer) maxConcurrentTasks!: number;
  @ApiProperty({ ...id, nullable: true }) currentTaskId!: string | null;
  @ApiProperty({ ...integer, nullable: true }) progressPercent!: number | null;
  @ApiProperty({ type: String, nullable: true }) currentStep!: string | null;
  @ApiProperty({ ...integer, nullable: true }) memoryMb!: number | null;
  @ApiProperty({ ...integer, nullable: true }) cpuPercent!: number | null;
  @ApiProperty(json) metadata!: Record<string, unknown>;
}

/** At most one for each `HEARTBEAT_HISTORY_SECONDS`. */
export class HeartbeatDto implements KeptHeartbeat {
  @ApiProperty(time) seenAt!: string;
  @ApiProperty({ enum: HEARTBEAT_STATUSES }) status!: HeartbeatStatus;
  @ApiProperty({ ...id, nullable: true }) currentTaskId!: string | null;
  @ApiProperty({ ...integer, nullable: true }) progressPercent!: number | null;
  @ApiProperty({ type: String, nullable: true }) currentStep!: string | null;
  @ApiProperty({ ...integer, nullable: true }) memoryMb!: number | null;
  @ApiProperty({ ...integer, nullable: true }) cpuPercent!: number | null;
}

export class HeartbeatPageDto {
  @ApiProperty({ type: [HeartbeatDto] }) items!: HeartbeatDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class NewAgentTokenDto implements AgentToken {
  @ApiProperty({ description: 'Only this answer shows it.' }) token!: string;
  @ApiProperty(id) agentId!: string;
  @ApiProperty(time) expiresAt!: string;
}

export class HeartbeatAnswerDto implements HeartbeatAnswer {
  @ApiProperty(time) acknowledgedAt!: string;
  @ApiProperty({ ...time, description: 'The time at which the next heartbeat is due' })
  nextExpectedAt!: string;
}
