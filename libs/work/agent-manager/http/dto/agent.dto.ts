import {
  Flag,
  WholeId,
  Int,
  JsonObject,
  OneOf,
  OneOfList,
  PageQuery,
  Text,
  TextList,
  Timestamp,
} from '#lib/http';
import { AGENT_MODES, type AgentMode } from '../../domain/agent-view.js';
import { CAPABILITY } from '../../domain/capabilities.js';
import { Secrets } from '#lib/secrets';
import { AGENT_STATUSES, type AgentStatus } from '#lib/transitions';
import type { AgentRequest } from '../../agents/agent-registration.js';
import type { AgentFilter } from '../../agents/list-agents.sql.js';

const MAX_INTEGER = 2_147_483_647;
const DAY_SECONDS = 86_400;

/** Absent fields keep their value. A new agent takes the default. */
export class RegisterAgentDto implements AgentRequest {
  @Text({ max: 200, example: 'Dev Agent #1' })
  name!: string;

  @OneOf(AGENT_MODES, {
    optional: true,
    description:
      '`pull` (default): the agent claims its tasks. `push`: a gateway starts a session ' +
      'for each task.',
  })
  mode?: AgentMode;

  @Text({ max: 200, optional: true, nullable: true, example: 'claude-sonnet-4' })
  model?: string | null;

  @TextList({
    item: CAPABILITY,
    maxItems: 100,
    optional: true,
    example: ['typescript', 'nestjs', 'prisma'],
    description: 'The capabilities. The agent gets only tasks that require no others.',
  })
  capabilities?: string[];

  @TextList({
    item: { max: 100 },
    maxItems: 100,
    optional: true,
    example: ['research'],
    description:
      'The agent gets only tasks of these types. An empty list (default) means all types.',
  })
  taskTypes?: string[];

  @TextList({
    item: CAPABILITY,
    maxItems: 100,
    optional: true,
    example: ['gpu'],
    description:
      'Capabilities for which the agent is reserved. It gets only tasks that require all ' +
      'of them.',
  })
  dedicatedTo?: string[];

  @Flag({
    optional: true,
    description: 'Whether the coordinator can assign tasks to the agent; true by default.',
  })
  coordinatorEnabled?: boolean;

  @Int(1, 1_000, {
    optional: true,
    description: 'The maximum number of runs at once; 1 by default.',
  })
  maxConcurrentTasks?: number;

  @Int(1, DAY_SECONDS, {
    optional: true,
    description: 'The seconds between heartbeats; 30 by default.',
  })
  heartbeatIntervalSeconds?: number;

  @Int(2, 7 * DAY_SECONDS, {
    optional: true,
    description:
      'The seconds without a heartbeat after which the agent counts as dead. They must ' +
      'exceed the interval; 180 or three intervals by default.',
  })
  staleThresholdSeconds?: number;

  @Text({ max: 255, optional: true, nullable: true })
  hostName?: string | null;

  @Text({ max: 255, optional: true, nullable: true, description: 'Another name of hostName.' })
  hostname?: string | null;

  @Text({
    max: 100,
    optional: true,
    description: 'The server ignores it, because the path names the agent.',
  })
  workerId?: string;

  @Int(0, MAX_INTEGER, { optional: true, nullable: true })
  pid?: number | null;

  @Text({ max: 100, optional: true, nullable: true })
  agentVersion?: string | null;

  @Int(0, MAX_INTEGER, { optional: true })
  restartCount?: number;

  @WholeId({
    optional: true,
    description:
      "An id that is new at each start of the agent's process. The server refuses a second " +
      'process while the first one sends heartbeats.',
  })
  bootId?: string;

  @WholeId({
    optional: true,
    description:
      'The id of the previous process, if it is known to have ended. The server then does ' +
      'not wait for its heartbeats to stop.',
  })
  previousBootId?: string;

  @JsonObject({ optional: true, description: 'Metadata of up to 16 KiB' })
  metadata?: Record<string, unknown>;

  @TextList({
    item: { max: 4_096 },
    maxItems: 100,
    optional: true,
    example: ['node', 'agent.js'],
    description:
      'The command that the gateway runs for each session of a push agent. It is an ' +
      'argument vector, never a line for a shell. A push agent must have one. The command ' +
      'of a pull agent is stored but never started.',
  })
  command?: string[];

  @Secrets({
    optional: true,
    description:
      'Variables for the environment of the command. They are encrypted, given to sessions ' +
      'of the agent and never shown. The object replaces all secrets; a "[redacted]" keeps ' +
      'its value.',
    example: { OPENAI_API_KEY: 'sk-…' },
  })
  secrets?: Record<string, string>;
}

/** All given filters must match. */
export class ListAgentsQuery extends PageQuery implements AgentFilter {
  @OneOfList(AGENT_STATUSES, {
    maxItems: AGENT_STATUSES.length,
    optional: true,
    description: 'Any of these values, repeated or separated by commas.',
  })
  status?: AgentStatus[];

  @OneOf(AGENT_MODES, { optional: true })
  mode?: AgentMode;

  @TextList({
    item: CAPABILITY,
    maxItems: 20,
    optional: true,
    description: 'All of these values, repeated or separated by commas.',
  })
  capability?: string[];

  @Flag({ optional: true })
  coordinatorEnabled?: boolean;

  @Text({
    max: 200,
    optional: true,
    description: 'Only agents whose name contains this text, in upper or lower case.',
  })
  name?: string;
}

export class HeartbeatsQuery extends PageQuery {
  @Timestamp({ optional: true, description: 'Only results at this time or later.' })
  from?: string;

  @Timestamp({ optional: true, description: 'Only results before this time.' })
  to?: string;
}

export class IssueAgentTokenDto {
  @Int(60, 365 * DAY_SECONDS, {
    optional: true,
    description: 'The lifetime in seconds; AGENT_TOKEN_SECONDS (90 days) at most and by default.',
  })
  expiresInSeconds?: number;

  @Flag({
    optional: true,
    description: 'Whether to revoke all earlier tokens of the agent and of its runs.',
  })
  rotate?: boolean;
}
