import type { AgentTask, Columns, Row } from '#lib/database';

/*
 * The fields of a task are those of the model AgentTask. All are public except those listed here.
 * Fields that clients write are listed with the type of their column. These lists define the
 * statements that read, create and update a task, its view, and the types of requests.
 */

/** Only for statements. */
export const HIDDEN = [
  'capabilityKey',
  'queueRank',
  'hasDependents',
  'dependentsUnsettled',
  'traceparent',
  'answers',
  'pausedForId',
  'waitsForStart',
  'waitsForSlot',
  'commandKind',
] as const satisfies readonly (keyof AgentTask)[];
export type HiddenField = (typeof HIDDEN)[number];

/** Given at creation and changed by updates. */
export const EDITABLE = {
  title: 'text',
  description: 'text',
  priority: 'int',
  metadata: 'jsonb',
  secrets: 'jsonb',
  estimatedDurationMinutes: 'int',
  estimatedComplexity: 'int',
  /** Given, or found by the server, which says so in estimateSource. */
  estimatedTokens: 'bigint',
  estimateSource: 'text',
  maxRetries: 'int',
  retryBackoffSeconds: 'int',
  timeoutSeconds: 'int',
  projectId: 'uuid',
  milestoneId: 'uuid',
  requiredCapabilities: 'text[]',
} as const satisfies Columns<AgentTask>;

/** Given at creation and never changed by a client. */
export const GIVEN_ONCE = {
  taskType: 'text',
  repositoryId: 'uuid',
  agent: 'jsonb',
  instructions: 'text',
  steps: 'text[]',
  deliverables: 'text[]',
  acceptance: 'text[]',
  acceptanceScript: 'text',
  inputContext: 'jsonb',
  concurrencyKey: 'text',
  /** 1 by default. */
  concurrencyLimit: 'int',
  debounceKey: 'text',
} as const satisfies Columns<AgentTask>;

/** Found by the server at creation. */
export const FOUND = {
  id: 'uuid',
  capabilityKey: 'text',
  unmetDependencies: 'int',
  hasDependents: 'boolean',
  createdBy: 'uuid',
  parentTaskId: 'uuid',
  scheduleId: 'uuid',
  scheduledFor: 'timestamptz',
  /** The kind of its history, if that is not its type. */
  commandKind: 'text',
  /** The traceparent of the request's span, if it is traced. */
  traceparent: 'text',
} as const satisfies Columns<AgentTask>;

/** Defaults of a task. */
export const TASK_DEFAULTS = {
  priority: 5,
  maxRetries: 3,
  retryBackoffSeconds: 300,
  steps: [],
  deliverables: [],
  acceptance: [],
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

/** The fields that a client can give for a new task. */
export const GIVEN = Object.keys({ ...GIVEN_ONCE, ...EDITABLE }) as GivenField[];
