import { z } from 'zod';
import type { components } from '#lib/api-client';

// Arguments of several tools. The API enforces lengths and sizes, and explains a refusal.

type Schemas = components['schemas'];
export type TaskView = Schemas['Task'];

const FINISHED = ['ABORTED', 'FAILED', 'COMPLETED', 'ARCHIVED'] as const;
export const TASK_STATUS = z.enum(['PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED', ...FINISHED]);
/** A list tells ABORTED tasks that wait for their retry, or that somebody cancelled, apart. */
export const LISTED_STATUS = z.enum([...TASK_STATUS.options, 'RETRYING', 'CANCELLED']);

const ID = /^(?:-*[\da-f]){4,32}-*$/i;

/**
 * An id, or its first digits, which the API completes for people. A pattern of Zod would cost each
 * model hundreds of tokens.
 */
export const shortId = () =>
  z.string().refine((text) => ID.test(text), 'must be an ID, or at least 4 of its first digits');

/** A format describes the value. */
export const timestamp = () => z.string().meta({ format: 'date-time' });
export const date = () => z.string().meta({ format: 'date' });

export const taskId = shortId().describe('ID of the task, or its first digits.');
export const object = z.record(z.string(), z.unknown());
export const cursor = z
  .string()
  .optional()
  .describe('`nextCursor` of the previous page. Keep the same filters.');

/** The page size is small, because each item costs tokens. */
export const limit = z.int().min(1).max(50).default(20).describe('Maximum number of items.');

export const usageReports = z.array(
  z.strictObject({
    id: z.string().describe('Your ID for the report. A repeated ID counts once.'),
    model: z.string().describe('Model name of the provider.'),
    operation: z.string().optional(),
    inputTokens: z.int().min(0),
    outputTokens: z.int().min(0),
    cacheReadTokens: z.int().min(0).optional(),
    cacheWriteTokens: z.int().min(0).optional(),
    reasoningTokens: z.int().min(0).optional().describe('Part of `outputTokens`.'),
  }),
);

/** Fields of a new task or subtask. They exclude `secrets`, which a model must not handle. */
export const newTask = {
  title: z.string().describe('Title in one line.'),
  description: z.string().optional(),
  taskType: z.string().describe('Kind of work, such as `development`.'),
  priority: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe('Priority from 1 to 10. 10 runs first. Default: 5.'),
  inputContext: object.optional().describe('Input for the agent.'),
  repositoryId: shortId()
    .optional()
    .describe('The repository that the task changes, on a branch of its own.'),
  acceptanceScript: z
    .string()
    .optional()
    .describe('Bash commands that prove the result of a task without a repository.'),
  requiredCapabilities: z
    .array(z.string())
    .optional()
    .describe('Capabilities that the agent must have.'),
  dependsOn: z.array(shortId()).optional().describe('IDs of tasks that must complete first.'),
  tags: z.array(z.string()).optional(),
  timeoutSeconds: z.int().min(1).optional().describe('Maximum duration of a run in seconds.'),
  maxRetries: z.int().min(0).optional(),
  idempotencyKey: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[\x21-\x7e]+$/)
    .optional()
    .describe('A repeated call with the same key and arguments creates no second task.'),
};

/** Further fields of a task that a person's assistant creates. */
export const personTask = {
  projectId: shortId().optional(),
  agentId: shortId().optional().describe('ID of the only agent that can claim the task.'),
  agent: z
    .strictObject({ kind: z.string(), model: z.string().optional() })
    .optional()
    .describe('Coding agent of the task, such as `{"kind": "codex"}`.'),
  instructions: z.string().optional().describe('Instructions for the coding agent.'),
  startAt: timestamp().optional().describe('The task does not start before this time.'),
  delaySeconds: z.int().min(1).optional().describe('The same from the creation on, in seconds.'),
  expiresAt: timestamp().optional().describe('The task is aborted if it still waits then.'),
  concurrencyKey: z.string().optional().describe('Few tasks of this key run at once.'),
  concurrencyLimit: z.int().min(1).optional().describe('How many of them. Default: 1.'),
};

/** Builds the idempotency header. Without a key, the client creates one for its own retries. */
export function toKeyHeader(idempotencyKey: string | undefined) {
  return { header: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey } };
}

/** Shortens a task for lists and commands. `get_task` returns the whole task. */
export function toBrief(task: TaskView) {
  const { id, title, taskType, status, priority, progressPercent, currentStep } = task;
  const { agentId, runId, projectId, parentTaskId, tags, unmetDependencies } = task;
  const { lastError, abortReason, failureReason, pauseReason, retryAt, summary } = task;
  const { version, createdAt, updatedAt, startedAt, completedAt } = task;
  return {
    id,
    title,
    taskType,
    status,
    priority,
    progressPercent,
    currentStep,
    agentId,
    runId,
    projectId,
    parentTaskId,
    tags,
    unmetDependencies,
    lastError,
    abortReason,
    failureReason,
    pauseReason,
    retryAt,
    summary,
    version,
    createdAt,
    updatedAt,
    startedAt,
    completedAt,
  };
}
