import {
  Flag,
  Id,
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
import type { AgentFilter } from '../../store/list-agents.sql.js';

const MAX_INTEGER = 2_147_483_647;
const DAY_SECONDS = 86_400;

/** Absent fields stay as they are; a new agent takes the default. */
export class RegisterAgentDto implements AgentRequest {
  @Text({ max: 200, example: 'Dev Agent #1' })
  name!: string;

  @OneOf(AGENT_MODES, {
    optional: true,
    description:
      'pull: it claims its tasks itself (default). push: a session is started for each task.',
  })
  mode?: AgentMode;

  @Text({ max: 200, optional: true, nullable: true, example: 'claude-sonnet-4' })
  model?: string | null;

  @TextList({
    item: CAPABILITY,
    maxItems: 100,
    optional: true,
    example: ['typescript', 'nestjs', 'prisma'],
    description: 'It gets tasks that require none but these.',
  })
  capabilities?: string[];

  @TextList({
    item: { max: 100 },
    maxItems: 100,
    optional: true,
    example: ['research'],
    description: 'It gets tasks of these types only; empty: of all (default).',
  })
  taskTypes?: string[];

  @TextList({
    item: CAPABILITY,
    maxItems: 100,
    optional: true,
    example: ['gpu'],
    description:
      'Capabilities of its own for which it is kept free: it gets tasks only that require all of them.',
  })
  dedicatedTo?: string[];

  @Flag({ optional: true, description: 'Whether the coordinator may assign to it; default true.' })
  coordinatorEnabled?: boolean;

  @Int(1, 1_000, { optional: true, description: 'Runs that it holds at once; default 1.' })
  maxConcurrentTasks?: number;

  @Int(1, DAY_SECONDS, { optional: true, description: 'Default 30.' })
  heartbeatIntervalSeconds?: number;

  @Int(2, 7 * DAY_SECONDS, {
    optional: true,
    description:
      'Silence after which it is taken for dead; more than the interval. Default 180, or three intervals.',
  })
  staleThresholdSeconds?: number;

  @Text({ max: 255, optional: true, nullable: true })
  hostName?: string | null;

  @Text({ max: 255, optional: true, nullable: true, description: 'The same as hostName.' })
  hostname?: string | null;

  @Text({
    max: 100,
    optional: true,
    description: 'Not looked at: the path says which agent it is.',
  })
  workerId?: string;

  @Int(0, MAX_INTEGER, { optional: true, nullable: true })
  pid?: number | null;

  @Text({ max: 100, optional: true, nullable: true })
  agentVersion?: string | null;

  @Int(0, MAX_INTEGER, { optional: true })
  restartCount?: number;

  @Id({
    optional: true,
    description:
      'New at each start of the process that works as the agent: a second one is refused while the first is heard.',
  })
  bootId?: string;

  @Id({
    optional: true,
    description: 'The process before, where it is known to be over: it need not fall silent first.',
  })
  previousBootId?: string;

  @JsonObject({ optional: true, description: 'Up to 16 KiB' })
  metadata?: Record<string, unknown>;

  @TextList({
    item: { max: 4_096 },
    maxItems: 100,
    optional: true,
    example: ['node', 'agent.js'],
    description:
      'The command that the gateway runs for each session of a push agent: an argument vector, never a line for a shell. A push agent must have one; a pull agent’s is kept and started by nobody.',
  })
  command?: string[];

  @Secrets({
    optional: true,
    description:
      'For the environment of the command: encrypted, given to sessions of the agent, and shown to nobody. Replaces all; a "[redacted]" keeps what it hid.',
    example: { OPENAI_API_KEY: 'sk-…' },
  })
  secrets?: Record<string, string>;
}

/** Every filter that is given must hold. */
export class ListAgentsQuery extends PageQuery implements AgentFilter {
  @OneOfList(AGENT_STATUSES, {
    maxItems: AGENT_STATUSES.length,
    optional: true,
    description: 'One of these: repeated, or with commas.',
  })
  status?: AgentStatus[];

  @OneOf(AGENT_MODES, { optional: true })
  mode?: AgentMode;

  @TextList({
    item: CAPABILITY,
    maxItems: 20,
    optional: true,
    description: 'All of these: repeated, or with commas.',
  })
  capability?: string[];

  @Flag({ optional: true })
  coordinatorEnabled?: boolean;

  @Text({
    max: 200,
    optional: true,
    description: 'Somewhere in the name, in upper or lower case.',
  })
  name?: string;
}

export class HeartbeatsQuery extends PageQuery {
  @Timestamp({ optional: true, description: 'At this time or later.' })
  from?: string;

  @Timestamp({ optional: true, description: 'Before this time.' })
  to?: string;
}

export class IssueAgentTokenDto {
  @Int(60, 365 * DAY_SECONDS, {
    optional: true,
    description: 'At most, and by default, AGENT_TOKEN_SECONDS (90 days).',
  })
  expiresInSeconds?: number;

  @Flag({
    optional: true,
    description: 'Refuse all earlier tokens of the agent, and of its runs, from now on.',
  })
  rotate?: boolean;
}
