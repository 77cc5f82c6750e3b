import type { ApiPropertyOptions } from '@nestjs/swagger';
import type { ReasonCode, ReasonFacts } from '../domain/explain-reasons.js';
import { RUN_STATES, TASK_STATUSES } from '#lib/transitions';
import { DEPENDENCY_POLICIES } from '#lib/task-manager';

type Schema = Extract<ApiPropertyOptions, { type?: 'string' }> | Record<string, unknown>;

const text: Schema = { type: 'string' };
const textOrNull: Schema = { type: 'string', nullable: true };
const id: Schema = { type: 'string', format: 'uuid' };
const idOrNull: Schema = { ...id, nullable: true };
const time: Schema = { type: 'string', format: 'date-time' };
const timeOrNull: Schema = { ...time, nullable: true };
const count: Schema = { type: 'integer' };
const countOrNull: Schema = { type: 'integer', nullable: true };
const flag: Schema = { type: 'boolean' };
const texts: Schema = { type: 'array', items: text };
const oneOf = (values: readonly string[]): Schema => ({ type: 'string', enum: [...values] });

function object(properties: Record<string, Schema>): Schema {
  return { type: 'object', required: Object.keys(properties), properties };
}

const otherTask = { taskId: id, title: text, status: oneOf(TASK_STATUSES) };
const dependency = { ...otherTask, policy: oneOf(DEPENDENCY_POLICIES) };
const agents = {
  count,
  agents: {
    type: 'array',
    description: 'Some of them',
    items: object({
      ...{ id, name: text, liveRuns: count, maxConcurrentTasks: count, lastSeenAt: timeOrNull },
      restingUntil: timeOrNull,
    }),
  },
};
const nearest = {
  type: 'array',
  description: 'The agents that lack least, and what',
  items: object({ id, name: text, missing: texts }),
};
const end = {
  ...{ at: timeOrNull, reason: textOrNull, error: textOrNull },
  ...{ runId: idOrNull, agentId: idOrNull, agentName: textOrNull, exitCode: countOrNull },
};

/** When each reason holds, and the facts that it comes with. The compiler keeps it whole. */
const REASONS: {
  [Code in ReasonCode]: { about: string; facts: { [Fact in keyof ReasonFacts[Code]]: Schema } };
} = {
  waiting_for_dependency: { about: 'A task that it depends on has not ended', facts: dependency },
  waiting_for_more_dependencies: {
    about: 'It depends on more tasks than are told one by one',
    facts: { count },
  },
  dependency_failed: {
    about: 'A task that it depends on has ended without success',
    facts: dependency,
  },
  waiting_further_up: {
    about: 'A task that its dependencies depend on, at the end of that chain; up to 5 of them',
    facts: otherTask,
  },
  paused: {
    about: 'Somebody paused it',
    facts: { by: text, byName: textOrNull, reason: textOrNull, since: timeOrNull },
  },
  waiting_for_retry: {
    about: 'It failed, and is tried again at a time',
    facts: {
      ...{ retryAt: timeOrNull, due: flag, retryCount: count, maxRetries: count },
      abortReason: textOrNull,
    },
  },
  queue_expired: { about: 'It waited longer than it may', facts: { queueExpiresAt: time } },
  held_by_pause: {
    about: 'Its type, its workspace or everything is paused',
    facts: {
      ...{ id, scope: oneOf(['everything', 'workspace', 'task_type']), taskType: textOrNull },
      ...{ reason: text, byName: textOrNull, since: time, until: timeOrNull },
      by: {
        ...text,
        description: '`user:` or `api_key:` and an id; `operator` for a pause of everything',
      },
    },
  },
  no_capable_agent: {
    about: 'No agent of the workspace has all capabilities that it needs',
    facts: { requiredCapabilities: texts, missingCapabilities: texts, nearest },
  },
  agents_in_error: { about: 'Agents that can take it are in ERROR', facts: agents },
  agents_offline: { about: 'Agents that can take it are unresponsive', facts: agents },
  agents_draining: { about: 'Agents that can take it are DRAINING', facts: agents },
  agents_disabled: { about: 'Push agents that can take it are switched off', facts: agents },
  agents_without_command: {
    about: 'Push agents that can take it have no command to run',
    facts: agents,
  },
  agents_resting: {
    about: 'Push agents that can take it rest: their command could not be started',
    facts: agents,
  },
  agents_full: { about: 'Agents that can take it hold as many tasks as they may', facts: agents },
  waiting_for_claim: {
    about: 'A pull agent has room for it, and has not claimed it yet',
    facts: agents,
  },
  waiting_for_assignment: {
    about: 'A push agent has room for it, and the coordinator has not assigned it yet',
    facts: agents,
  },
  gateway_unreachable: {
    about: 'Push agents have room, and no gateway is configured, heard of, or answering',
    facts: { configured: flag, lastSeenAt: timeOrNull, resting: flag },
  },
  gateway_draining: {
    about: 'Push agents have room, and every gateway is leaving',
    facts: { gateways: count },
  },
  gateway_full: {
    about: 'Push agents have room, and no gateway has',
    facts: { gateways: count },
  },
  spawn_rate_reached: {
    about: 'Push agents have room, and no more sessions may be spawned for now',
    facts: { scope: oneOf(['installation', 'workspace']), perMinute: count, nextAt: timeOrNull },
  },
  queued_behind: {
    about: 'Other ready tasks rank before it; counted up to 1,000',
    facts: { count, isMore: flag },
  },
  session_being_spawned: {
    about: 'A push agent has it, and the gateway has no session for it yet',
    facts: { attempts: count, lastError: textOrNull, since: time, nextAttemptAt: time },
  },
  held_by_run: {
    about: 'An agent has it',
    facts: {
      ...{ runId: id, agentId: id, agentName: text, state: oneOf(RUN_STATES), generation: count },
      ...{ leaseExpiresAt: time, leaseExpired: flag, pauseRequestedAt: timeOrNull },
    },
  },
  completed: { about: 'It has completed', facts: end },
  failed: { about: 'It has failed, and is not tried again', facts: end },
  aborted: { about: 'It was aborted, and is not tried again', facts: end },
  archived: { about: 'It was archived', facts: end },
};

const codes = Object.keys(REASONS) as ReasonCode[];

/** One schema a code, told apart by `code`. */
export const REASON_SCHEMAS = codes.map((code) => {
  const { about, facts } = REASONS[code];
  const message: Schema = { ...text, description: 'A sentence for people' };
  return { ...object({ code: oneOf([code]), message, facts: object(facts) }), description: about };
});
