import { z } from 'zod';
import { cursor, limit, newTask, shortId, toBrief, toKeyHeader } from './fields.js';
import { personTool, type PersonAccess, type Tool } from './tool.js';

const READ: PersonAccess = { role: 'VIEWER', scope: 'tasks:read' };
const WRITE: PersonAccess = { role: 'MEMBER', scope: 'tasks:write' };

const templateId = shortId();
const { idempotencyKey, ...fields } = newTask;

/** Named templates of the workspace for tasks. */
export const PERSON_TEMPLATE_TOOLS: readonly Tool[] = [
  personTool(READ, {
    name: 'list_templates',
    title: 'List templates',
    description: 'Lists templates for tasks with their purpose, newest first.',
    route: 'GET /api/v1/task-templates',
    effect: 'reads',
    input: z.strictObject({ name: z.string().optional(), limit, cursor }),
    call: async ({ client, signal }, query) => {
      const page = await client.get('/api/v1/task-templates', { params: { query }, signal });
      const items = page.items.map(({ id, name, description, task }) => {
        const { taskType } = task as { taskType?: string };
        return { id, name, description, taskType };
      });
      return { ...page, items };
    },
  }),
  personTool(READ, {
    name: 'get_template',
    title: 'Get a template',
    description: 'Returns a template with all fields of its task.',
    route: 'GET /api/v1/task-templates/{id}',
    effect: 'reads',
    input: z.strictObject({ templateId }),
    call: ({ client, signal }, { templateId: id }) =>
      client.get('/api/v1/task-templates/{id}', { params: { path: { id } }, signal }),
  }),
  personTool(WRITE, {
    name: 'create_task_from_template',
    title: 'Create a task from a template',
    description: 'Creates a task with the fields of a template. Given fields replace its fields.',
    route: 'POST /api/v1/task-templates/{id}/tasks',
    effect: 'adds',
    input: z.strictObject({ templateId, idempotencyKey, ...z.object(fields).partial().shape }),
    call: async ({ client, signal }, { templateId: id, idempotencyKey: key, ...body }) =>
      toBrief(
        await client.post('/api/v1/task-templates/{id}/tasks', {
          params: { path: { id }, ...toKeyHeader(key) },
          body,
          signal,
        }),
      ),
  }),
];
