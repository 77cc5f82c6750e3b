import { z } from 'zod';
import { type Context, personTool, type PersonAccess, type Tool } from './tool.js';
import {
  toBrief,
  cursor,
  toKeyHeader,
  limit,
  newTask,
  personTask,
  LISTED_STATUS,
  taskId,
  timestamp,
  shortId,
} from './fields.js';

const READ: PersonAccess = { role: 'VIEWER', scope: 'tasks:read' };
const WRITE: PersonAccess = { role: 'MEMBER', scope: 'tasks:write' };

const reason = z.string().optional().describe('Reason for the log of the task.');

type Command = 'resume' | 'retry';

/** Defines a tool that resumes or retries a task. */
function command(name: Command, title: string, description: string): Tool {
  const path = `/api/v1/agent-tasks/{id}/${name}` as const;
  return personTool(WRITE, {
    name: `${name}_task`,
    title,
    description,
    route: `POST ${path}`,
    effect: 'changes',
    input: z.strictObject({ taskId, reason }),
    call: async ({ client, signal }: Context, { taskId: id, ...body }) =>
      toBrief(await client.post(path, { params: { path: { id } }, body, signal })),
  });
}

export const PERSON_TASK_TOOLS: readonly Tool[] = [
  personTool(READ, {
    name: 'list_tasks',
    title: 'List tasks',
    description:
      'Lists tasks of the workspace in brief, newest first by default. get_task returns a whole ' +
      'task.',
    route: 'GET /api/v1/agent-tasks',
    effect: 'reads',
    input: z.strictObject({
      status: z.array(LISTED_STATUS).optional().describe('Tasks with one of these statuses.'),
      text: z.string().optional().describe('Text in the title or description.'),
      taskType: z.string().optional(),
      tags: z.array(z.string()).optional().describe('Tasks with all of these tags.'),
      agentId: shortId().optional(),
      projectId: shortId().optional(),
      parentTaskId: shortId().optional().describe('ID of the task whose run created the tasks.'),
      milestoneId: shortId().optional(),
      scheduleId: shortId().optional().describe('ID of the schedule that created the tasks.'),
      failureFingerprint: z
        .string()
        .optional()
        .describe('Fingerprint of a group of the dead letter.'),
      deadLetter: z.boolean().optional().describe('Whether the tasks are in the dead letter.'),
      createdAfter: timestamp().optional(),
      sort: z.enum(['newest', 'oldest', 'priority', 'updated']).optional(),
      limit,
      cursor,
    }),
    call: async ({ client, signal }, query) => {
      const page = await client.get('/api/v1/agent-tasks', { params: { query }, signal });
      return { items: page.items.map(toBrief), nextCursor: page.nextCursor };
    },
  }),
  personTool(READ, {
    name: 'get_task',
    title: 'Get a task',
    description: 'Returns one task with its input, result, checkpoint and dependencies.',
    route: 'GET /api/v1/agent-tasks/{id}',
    effect: 'reads',
    input: z.strictObject({ taskId }),
    call: ({ client, signal }, { taskId: id }) =>
      client.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal }),
  }),
  personTool(READ, {
    name: 'get_task_log',
    title: 'Get the log of a task',
    description: 'Returns the log of a task: its events and the output of its runs, newest first.',
    route: 'GET /api/v1/agent-tasks/{id}/logs',
    effect: 'reads',
    input: z.strictObject({
      taskId,
      level: z
        .enum(['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'])
        .optional()
        .describe('Minimum level.'),
      order: z.enum(['desc', 'asc']).optional().describe('`asc` returns the oldest entries first.'),
      limit,
      cursor,
    }),
    call: ({ client, signal }, { taskId: id, ...query }) =>
      client.get('/api/v1/agent-tasks/{id}/logs', { params: { path: { id }, query }, signal }),
  }),
  personTool(READ, {
    name: 'explain_task',
    title: 'Explain a task',
    description: 'Explains why a task is not running, and estimates its start and end.',
    route: 'GET /api/v1/agent-tasks/{id}/explain',
    effect: 'reads',
    input: z.strictObject({ taskId }),
    call: ({ client, signal }, { taskId: id }) =>
      client.get('/api/v1/agent-tasks/{id}/explain', { params: { path: { id } }, signal }),
  }),
  personTool(WRITE, {
    name: 'create_task',
    title: 'Create a task',
    description:
      'Creates a task in the queue. An agent with the required capabilities claims it. Set ' +
      'inputContext.command to an array of words to let a worker run a command.',
    route: 'POST /api/v1/agent-tasks',
    effect: 'adds',
    input: z.strictObject({
      ...newTask,
      ...personTask,
      debounceKey: z
        .string()
        .optional()
        .describe('A waiting task of this key gets the start of this one, and no task is created.'),
    }),
    call: async ({ client, signal }, { idempotencyKey, ...body }) =>
      toBrief(
        await client.post('/api/v1/agent-tasks', {
          params: toKeyHeader(idempotencyKey),
          body,
          signal,
        }),
      ),
  }),
  personTool(WRITE, {
    name: 'cancel_task',
    title: 'Cancel a task',
    description: 'Cancels a task and stops its run. retry_task requeues it.',
    route: 'POST /api/v1/agent-tasks/{id}/cancel',
    effect: 'ends',
    input: z.strictObject({
      taskId,
      reason,
      cascade: z
        .boolean()
        .optional()
        .describe('Whether to cancel its subtasks and dependent tasks too.'),
    }),
    call: async ({ client, signal }, { taskId: id, ...body }) =>
      toBrief(
        await client.post('/api/v1/agent-tasks/{id}/cancel', {
          params: { path: { id } },
          body,
          signal,
        }),
      ),
  }),
  personTool(WRITE, {
    name: 'pause_task',
    title: 'Pause a task',
    description: 'Pauses a task. The agent of a running task saves a checkpoint and stops.',
    route: 'POST /api/v1/agent-tasks/{id}/pause',
    effect: 'changes',
    input: z.strictObject({
      taskId,
      reason,
      afterTurn: z
        .boolean()
        .optional()
        .describe('Whether a coding agent ends its current turn first.'),
    }),
    call: async ({ client, signal }, { taskId: id, ...body }) =>
      toBrief(
        await client.post('/api/v1/agent-tasks/{id}/pause', {
          params: { path: { id } },
          body,
          signal,
        }),
      ),
  }),
  command('resume', 'Resume a task', 'Resumes a paused task from its checkpoint.'),
  command('retry', 'Retry a task', 'Requeues a failed or aborted task and resets its retries.'),
];
