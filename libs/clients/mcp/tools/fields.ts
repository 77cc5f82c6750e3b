import { z } from 'zod';
import type { components } from '#lib/api-client';

// Arguments that several tools have. How long and how large they may be is the API's to say: it refuses, and tells why.

type Schemas = components['schemas'];
export type TaskView = Schemas['Task'];

const ended = ['ABORTED', 'FAILED', 'COMPLETED', 'ARCHIVED'] as const;
export const TASK_STATUS = z.enum(['PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED', ...ended]);

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Told by their formats: the patterns that Zod would add cost each model some hundred tokens. */
export const uuid = () =>
  z
    .string()
    .refine((text) => UUID.test(text), 'must be a UUID')
    .meta({ format: 'uuid' });
export const timestamp = () => z.string().meta({ format: 'date-time' });
export const date = () => z.string().meta({ format: 'date' });

export const taskId = uuid().describe('The id of the task');
export const object = z.record(z.string(), z.unknown());
export const cursor = z
  .string()
  .optional()
  .describe('`nextCursor` of the page before, with the same filters');

/** Items of a page: few, because each costs the reader. */
export const limit = z.int().min(1).max(50).default(20).describe('Items at most');

export const usageReports = z.array(
  z.strictObject({
    id: z.string().describe('Your own name for the report: the same again is counted once'),
    model: z.string().describe('The name of the model, as its provider has it'),
    operation: z.string().optional(),
    inputTokens: z.int().min(0),
    outputTokens: z.int().min(0),
    cacheReadTokens: z.int().min(0).optional(),
    cacheWriteTokens: z.int().min(0).optional(),
  }),
);

/** Of tasks and subtasks that are made. Not `secrets`: those are no matter of a model. */
export const newTask = {
  title: z.string().describe('One line'),
  description: z.string().optional(),
  taskType: z.string().describe('What sort of work it is, such as `development`'),
  priority: z.int().min(1).max(10).optional().describe('10 first; 5 when left out'),
  inputContext: object.optional().describe('The input of the work, for the agent'),
  requiredCapabilities: z.array(z.string()).optional().describe('Of the agent that may take it'),
  dependsOn: z.array(uuid()).optional().describe('Tasks that must complete first'),
  tags: z.array(z.string()).optional(),
  timeoutSeconds: z.int().min(1).optional().describe('A run that takes longer is ended'),
  maxRetries: z.int().min(0).optional(),
  idempotencyKey: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[\x21-\x7e]+$/)
    .optional()
    .describe('The same key again, with the same arguments, makes no second task'),
};

/** The header of an idempotency key; without one the client makes a key for its own repetitions. */
export function keyed(idempotencyKey: string | undefined) {
  return { header: idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey } };
}

/** A task in a list, or after a command: `get_task` has the whole. */
export function briefOf(task: TaskView) {
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
