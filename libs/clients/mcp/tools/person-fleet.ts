import { z } from 'zod';
import { personTool, type PersonAccess, type Tool } from './tool.js';
import { cursor, date, limit, taskId, shortId } from './fields.js';

const TASKS: PersonAccess = { role: 'VIEWER', scope: 'tasks:read' };
const AGENTS: PersonAccess = { role: 'VIEWER', scope: 'agents:read' };

export const PERSON_FLEET_TOOLS: readonly Tool[] = [
  personTool(AGENTS, {
    name: 'list_agents',
    title: 'List agents',
    description:
      'Lists the agents of the workspace with their task types, status and current runs.',
    route: 'GET /api/v1/agents',
    effect: 'reads',
    input: z.strictObject({
      status: z
        .array(z.enum(['STARTING', 'IDLE', 'WORKING', 'DRAINING', 'ERROR', 'TERMINATED']))
        .optional()
        .describe('Agents with one of these statuses.'),
      name: z.string().optional().describe('Part of the name.'),
      capability: z.array(z.string()).optional().describe('Agents with all of these capabilities.'),
      limit,
      cursor,
    }),
    call: ({ client, signal }, query) =>
      client.get('/api/v1/agents', { params: { query }, signal }),
  }),
  personTool(TASKS, {
    name: 'list_budgets',
    title: 'List budgets',
    description:
      'Lists token budgets with their allocated, consumed, reserved and available tokens.',
    route: 'GET /api/v1/budgets',
    effect: 'reads',
    input: z.strictObject({
      scope: z.enum(['global', 'project', 'milestone', 'task']).optional(),
      active: z
        .boolean()
        .optional()
        .describe('Whether to list only budgets of the current period.'),
      limit,
      cursor,
    }),
    call: ({ client, signal }, query) =>
      client.get('/api/v1/budgets', { params: { query }, signal }),
  }),
  personTool(TASKS, {
    name: 'get_usage',
    title: 'Get usage',
    description: 'Sums tokens and cost by day, agent, task, project or model.',
    route: 'GET /api/v1/usage',
    effect: 'reads',
    input: z.strictObject({
      groupBy: z.enum(['day', 'agent', 'task', 'project', 'model']).optional(),
      from: date().optional().describe('First day in UTC. Default: 29 days before the last day.'),
      to: date().optional().describe('Last day in UTC. Default: today.'),
      projectId: shortId().optional(),
      agentId: shortId().optional().describe('Requires groupBy `day`.'),
      taskId: shortId().optional().describe('Requires groupBy `day`.'),
      model: z.string().optional().describe('Requires groupBy `day`.'),
      limit,
      cursor,
    }),
    call: async ({ client, signal }, query) =>
      client.get('/api/v1/usage', { params: { query: { ...query, format: 'json' } }, signal }),
  }),
  personTool(TASKS, {
    name: 'get_task_usage',
    title: 'Get the usage of a task',
    description:
      'Lists the reports of usage of a task, the latest first. A report of a coding agent is one ' +
      'request to its model.',
    route: 'GET /api/v1/agent-tasks/{id}/usage',
    effect: 'reads',
    input: z.strictObject({
      taskId,
      runId: shortId().optional().describe('Only reports of this run.'),
      limit,
      cursor,
    }),
    call: async ({ client, signal }, { taskId: id, ...query }) =>
      client.get('/api/v1/agent-tasks/{id}/usage', { params: { path: { id }, query }, signal }),
  }),
];
