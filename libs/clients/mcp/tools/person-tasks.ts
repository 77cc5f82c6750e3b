import { z } from 'zod';
import { type Context, personTool, type PersonsAccess, type Tool } from './tool.js';
import {
  briefOf,
  cursor,
  keyed,
  limit,
  newTask,
  TASK_STATUS,
  taskId,
  timestamp,
  uuid,
} from './fields.js';

const READ: PersonsAccess = { role: 'VIEWER', scope: 'tasks:read' };
const WRITE: PersonsAccess = { role: 'MEMBER', scope: 'tasks:write' };

const reason = z.string().optional().describe('For those who read the log');

type Command = 'pause' | 'resume' | 'retry';

/** Pausing, resuming and retrying differ in their words alone. */
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
      briefOf(await client.post(path, { params: { path: { id } }, body, signal })),
  });
}

export const PERSON_TASK_TOOLS: readonly Tool[] = [
  personTool(READ, {
    name: 'list_tasks',
    title: 'List tasks',
    description: 'Tasks of the workspace, the newest first, in brief. get_task has the whole.',
    route: 'GET /api/v1/agent-tasks',
    effect: 'reads',
    input: z.strictObject({
      status: z.array(TASK_STATUS).optional().describe('One of these'),
      text: z.string().optional().describe('Somewhere in title or description'),
      taskType: z.string().optional(),
      tags: z.array(z.string()).optional().describe('All of these'),
      agentId: uuid().optional(),
      projectId: uuid().optional(),
      parentTaskId: uuid().optional().describe('The task whose run has created it'),
      createdAfter: timestamp().optional(),
      limit,
      cursor,
    }),
    call: async ({ client, signal }, query) => {
      const page = await client.get('/api/v1/agent-tasks', { params: { query }, signal });
      return { items: page.items.map(briefOf), nextCursor: page.nextCursor };
    },
  }),
  personTool(READ, {
    name: 'get_task',
    title: 'Read a task',
    description: 'One task with its input, result, checkpoint and dependencies.',
    route: 'GET /api/v1/agent-tasks/{id}',
    effect: 'reads',
    input: z.strictObject({ taskId }),
    call: ({ client, signal }, { taskId: id }) =>
      client.get('/api/v1/agent-tasks/{id}', { params: { path: { id } }, signal }),
  }),
  personTool(READ, {
    name: 'get_task_log',
    title: 'Read the log of a task',
    description: 'What happened to a task and what its runs wrote, the newest first.',
    route: 'GET /api/v1/agent-tasks/{id}/logs',
    effect: 'reads',
    input: z.strictObject({
      taskId,
      level: z
        .enum(['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'])
        .optional()
        .describe('This level and those above it'),
      order: z.enum(['desc', 'asc']).optional().describe('asc: the oldest first'),
      limit,
      cursor,
    }),
    call: ({ client, signal }, { taskId: id, ...query }) =>
      client.get('/api/v1/agent-tasks/{id}/logs', { params: { path: { id }, query }, signal }),
  }),
  personTool(READ, {
    name: 'explain_task',
    title: 'Say why a task waits',
    description: 'Why a task is not running, and when it will probably start and end.',
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
      'Puts a task into the queue; an agent with the required capabilities takes it. inputContext.command, an array, is a command for a worker to run.',
    route: 'POST /api/v1/agent-tasks',
    effect: 'adds',
    input: z.strictObject({
      ...newTask,
      projectId: uuid().optional(),
      agentId: uuid().optional().describe('The agent that alone may take it'),
    }),
    call: async ({ client, signal }, { idempotencyKey, ...body }) =>
      briefOf(
        await client.post('/api/v1/agent-tasks', { params: keyed(idempotencyKey), body, signal }),
      ),
  }),
  personTool(WRITE, {
    name: 'cancel_task',
    title: 'Cancel a task',
    description: 'A running one is stopped. retry_task puts it back into the queue.',
    route: 'POST /api/v1/agent-tasks/{id}/cancel',
    effect: 'ends',
    input: z.strictObject({
      taskId,
      reason,
      cascade: z.boolean().optional().describe('With its subtasks and all that depends on it'),
    }),
    call: async ({ client, signal }, { taskId: id, ...body }) =>
      briefOf(
        await client.post('/api/v1/agent-tasks/{id}/cancel', {
          params: { path: { id } },
          body,
          signal,
        }),
      ),
  }),
  command('pause', 'Pause a task', 'The agent of a running one puts it down with a checkpoint.'),
  command('resume', 'Resume a task', 'Lets a paused task go on from its checkpoint.'),
  command(
    'retry',
    'Retry a task',
    'Puts a failed or aborted task back into the queue, with its attempts reset.',
  ),
];
