import { RUN_STATES, TASK_STATUSES } from '#lib/transitions/domain';
import { CHANGE_STATES } from '#lib/changes/domain';
import { ON_DEADLINE } from '#lib/questions/domain';
import { DEPENDENCY_POLICIES } from '#lib/task-manager/domain';
import { BUDGET_SCOPES } from '#lib/budgets/domain';
import { LIMIT_KINDS } from '#lib/provider-limits/domain';

/** An OpenAPI schema of values of the type T. Facts and their documentation come from one place. */
export interface Schema<T = unknown> {
  type: string;
  format?: string;
  nullable?: boolean;
  enum?: string[];
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  description?: string;
  /** Never set. It carries only the type. */
  readonly of?: T;
}

export type Facts = Record<string, Schema>;
export type FactsOf<Described> = {
  [Fact in keyof Described]: Described[Fact] extends Schema<infer T> ? T : never;
};

export const text: Schema<string> = { type: 'string' };
export const id: Schema<string> = { type: 'string', format: 'uuid' };
export const time: Schema<string> = { type: 'string', format: 'date-time' };
export const count: Schema<number> = { type: 'integer' };
export const flag: Schema<boolean> = { type: 'boolean' };
export const orNull = <T>(schema: Schema<T>): Schema<T | null> => ({ ...schema, nullable: true });
const [textOrNull, idOrNull, timeOrNull] = [orNull(text), orNull(id), orNull(time)];
export const list = <T>(items: Schema<T>, description?: string): Schema<T[]> => ({
  type: 'array',
  items,
  ...(description !== undefined && { description }),
});
export const oneOf = <const T extends string>(values: readonly T[]): Schema<T> => ({
  type: 'string',
  enum: [...values],
});

export function object<T extends object>(properties: {
  [Name in keyof T]: Schema<T[Name]>;
}): Schema<T> {
  return { type: 'object', required: Object.keys(properties), properties };
}

const task = { taskId: id, title: text, status: oneOf(TASK_STATUSES) };
const otherTask = {
  ...task,
  retryAt: {
    ...timeOrNull,
    description: 'The time of its next retry, if it waits for one',
  } as Schema<string | null>,
};
export const dependency = { ...otherTask, policy: oneOf(DEPENDENCY_POLICIES) };
const agents = {
  count,
  agents: list(
    object({
      id,
      name: text,
      liveRuns: count,
      maxConcurrentTasks: count,
      lastSeenAt: timeOrNull,
      restingUntil: timeOrNull,
      limitedUntil: timeOrNull,
    }),
    'Some of them',
  ),
};
export const pause = {
  id,
  scope: oneOf(['everything', 'workspace', 'task_type']),
  taskType: textOrNull,
  reason: text,
  byName: textOrNull,
  since: time,
  until: timeOrNull,
  by: {
    ...text,
    description: '`user:` or `api_key:` and an id; `operator` for a pause of everything',
  } as Schema<string>,
};
const tokens: Schema<string> = { ...text, description: 'A 64-bit number' };
export const budget = {
  budgetId: id,
  scope: oneOf(BUDGET_SCOPES),
  scopeId: id,
  periodEnd: time,
  allocated: tokens,
  consumed: tokens,
  reserved: tokens,
  available: tokens,
  needed: tokens,
};
export const throttle = { projectId: idOrNull, budgetId: id, maxRuns: count, since: time };
export const providerLimit = {
  limitId: id,
  provider: text,
  model: textOrNull,
  kind: oneOf(LIMIT_KINDS),
  until: {
    ...time,
    description:
      'The time at which this task resumes. Each task resumes at its own time, shortly ' +
      'after the limit ends, or that of its first free fallback.',
  } as Schema<string>,
  isOfFallback: {
    ...flag,
    description: 'Whether the model is a fallback of the model that the task needs',
  } as Schema<boolean>,
};
const nearest = list(
  object({ id, name: text, missing: list(text) }),
  'The agents that lack least, and what',
);
const reserved = { id, name: text, dedicatedTo: list(text), taskTypes: list(text) };
const end = {
  at: timeOrNull,
  reason: textOrNull,
  error: textOrNull,
  runId: idOrNull,
  agentId: idOrNull,
  agentName: textOrNull,
  exitCode: orNull(count),
};

/**
 * The condition and the facts of each reason. Reasons to hold a task back are in HELD_BACK
 * (explain.ts).
 */
export const REASONS = {
  waiting_for_more_dependencies: {
    about: 'It depends on more tasks than the answer lists',
    facts: { count },
  },
  waiting_for_start: {
    about: 'Its start has not come',
    facts: {
      startAt: time,
      debounceKey: {
        ...textOrNull,
        description: 'A new creation with this key moves the start',
      } as Schema<string | null>,
    },
  },
  expires_while_waiting: {
    about: 'It is aborted if it still waits at its expiry',
    facts: { queueExpiresAt: time },
  },
  replayed: {
    about: 'It left the dead letter, because another task replays it',
    facts: task,
  },
  waiting_for_slot: {
    about: 'As many tasks of its concurrency key as can run at once have not finished',
    facts: { concurrencyKey: text, concurrencyLimit: count },
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
  waiting_for_answer: {
    about: 'Its last run has asked people a question',
    facts: {
      questionId: id,
      prompt: text,
      choices: list(text),
      deadlineAt: time,
      onDeadline: oneOf(ON_DEADLINE),
      default: textOrNull,
    },
  },
  waiting_for_review: {
    about: 'Its change is proven, reviewed or merged',
    facts: {
      state: oneOf(CHANGE_STATES),
      repositoryId: id,
      target: text,
      obstacle: textOrNull,
      submittedAt: time,
    },
  },
  waiting_for_retry: {
    about: 'It failed and is retried at a later time',
    facts: {
      retryAt: timeOrNull,
      due: flag,
      retryCount: count,
      maxRetries: count,
      abortReason: textOrNull,
    },
  },
  no_capable_agent: {
    about: 'No agent of the workspace has all capabilities that it needs',
    facts: { requiredCapabilities: list(text), missingCapabilities: list(text), nearest },
  },
  agents_reserved: {
    about: 'Agents have all capabilities that it needs, and take only other tasks',
    facts: { taskType: text, requiredCapabilities: list(text), agents: list(object(reserved)) },
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
    about: 'Push agents that can take it cool down: their command could not be started',
    facts: agents,
  },
  agents_provider_limited: {
    about: 'Agents that can take it have a model of their own, which its provider refuses',
    facts: agents,
  },
  agents_full: { about: 'Agents that can take it are at their limit of tasks', facts: agents },
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
      runId: id,
      agentId: id,
      agentName: text,
      state: oneOf(RUN_STATES),
      generation: count,
      leaseExpiresAt: time,
      leaseExpired: flag,
      pauseRequestedAt: timeOrNull,
      circle: textOrNull,
    },
  },
  completed: { about: 'It has completed', facts: end },
  failed: { about: 'It has failed and is not retried', facts: end },
  aborted: { about: 'It was aborted and is not retried', facts: end },
  archived: { about: 'It was archived', facts: end },
} satisfies TableOfReasons;

/** A sentence for people with its facts. */
export interface Told<Described> {
  message: string;
  facts: FactsOf<Described>;
}

export type TableOfReasons = Record<string, { about: string; facts: Facts }>;
/** A code for programs with its description. */
export type ReasonOf<Table extends TableOfReasons> = {
  [Code in keyof Table]: { code: Code } & Told<Table[Code]['facts']>;
}[keyof Table];

/** A reason that does not hold the task back by itself. */
export type OtherReason = ReasonOf<typeof REASONS>;

const PARAMS =
  'The parts of the message that name things, times and codes, in the order of the message. ' +
  'Replace each from the end of the one before it.';

/** One schema for each code, distinguished by `code`. `param` refers to the schema of a param. */
export function schemasOf(table: TableOfReasons, param: string) {
  return Object.entries(table).map(([code, { about, facts }]) => {
    const message = { ...text, description: 'A sentence for people' };
    const { properties, ...schema } = object({
      code: oneOf([code]),
      message,
      facts: object(facts),
      params: { type: 'array' } as Schema,
    });
    const params = { type: 'array', items: { $ref: param }, description: PARAMS };
    return { ...schema, properties: { ...properties, params }, description: about };
  });
}
