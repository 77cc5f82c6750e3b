import type { AgentTask, Columns, Row } from '#lib/database';

/*
 * The fields of a task are those of the model AgentTask. All are shown but those named here, and what clients
 * may write is named with the type of its column: from these lists come the statements that read, create and
 * update a task, its view, and the types of what is asked for.
 */

/** Known to the statements alone. */
export const HIDDEN = [
  'capabilityKey',
  'queueRank',
  'hasDependents',
  'dependentsUnsettled',
  'traceparent',
  'answers',
  'pausedForId',
] as const satisfies readonly (keyof AgentTask)[];
export type HiddenField = (typeof HIDDEN)[number];

/** Given when a task is created, and changed by updates. */
export const EDITABLE = {
  title: 'text',
  description: 'text',
  priority: 'int',
  metadata: 'jsonb',
  secrets: 'jsonb',
  estimatedDurationMinutes: 'int',
  estimatedComplexity: 'int',
  /** Given, or else found by the server, which says so in estimateSource. */
  estimatedTokens: 'bigint',
  estimateSource: 'text',
  maxRetries: 'int',
  retryBackoffSeconds: 'int',
  timeoutSeconds: 'int',
  projectId: 'uuid',
  milestoneId: 'uuid',
  requiredCapabilities: 'text[]',
} as const satisfies Columns<AgentTask>;

/** Given when a task is created, and never changed by a client. */
export const GIVEN_ONCE = {
  taskType: 'text',
  inputContext: 'jsonb',
} as const satisfies Columns<AgentTask>;

/** Found by the server when a task is created. */
export const FOUND = {
  id: 'uuid',
  capabilityKey: 'text',
  unmetDependencies: 'int',
  hasDependents: 'boolean',
  createdBy: 'uuid',
  parentTaskId: 'uuid',
  /** Of the request's span, if that is traced. */
  traceparent: 'text',
} as const satisfies Columns<AgentTask>;

/** What a task has that was not given it. */
export const TASK_DEFAULTS = {
  priority: 5,
  maxRetries: 3,
  retryBackoffSeconds: 300,
  inputContext: {},
  metadata: {},
  secrets: {},
} as const;

type Written<Value> = unknown extends Value ? Record<string, unknown> : Value;

/** Fields as a client writes them. */
export type Given<Field extends keyof AgentTask> = {
  -readonly [Name in Field]: Written<Row<AgentTask>[Name]>;
};

export type EditableField = keyof typeof EDITABLE;
export type GivenField = EditableField | keyof typeof GIVEN_ONCE;

/** What a client may say of a new task. */
export const GIVEN = Object.keys({ ...GIVEN_ONCE, ...EDITABLE }) as GivenField[];
