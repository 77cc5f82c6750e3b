import { z } from 'zod';
import { personTool, type PersonsAccess, type Tool } from './tool.js';
import { cursor, date, limit, uuid } from './fields.js';

const TASKS: PersonsAccess = { role: 'VIEWER', scope: 'tasks:read' };
const AGENTS: PersonsAccess = { role: 'VIEWER', scope: 'agents:read' };

export const PERSON_FLEET_TOOLS: readonly Tool[] = [
  personTool(AGENTS, {
    name: 'list_agents',
    title: 'List agents',
    description: 'The agents of the workspace: what they take, how they are, how much they hold.',
    route: 'GET /api/v1/agents',
    effect: 'reads',
    input: z.strictObject({
      status: z
        .array(z.enum(['STARTING', 'IDLE', 'WORKING', 'DRAINING', 'ERROR', 'TERMINATED']))
        .optional()
        .describe('One of these'),
      name: z.string().optional().describe('Somewhere in the name'),
      capability: z.array(z.string()).optional().describe('All of these'),
      limit,
      cursor,
    }),
    call: ({ client, signal }, query) =>
      client.get('/api/v1/agents', { params: { query }, signal }),
  }),
  personTool(TASKS, {
    name: 'list_budgets',
    title: 'List budgets',
    description: 'Budgets of tokens: allocated, consumed, reserved and available.',
    route: 'GET /api/v1/budgets',
    effect: 'reads',
    input: z.strictObject({
      scope: z.enum(['global', 'project', 'milestone', 'task']).optional(),
      active: z.boolean().optional().describe('Only those whose period is now'),
      limit,
      cursor,
    }),
    call: ({ client, signal }, query) =>
      client.get('/api/v1/budgets', { params: { query }, signal }),
  }),
  personTool(TASKS, {
    name: 'get_usage',
    title: 'Read usage',
    description: 'Tokens and cost, summed up by day, agent, task, project or model.',
    route: 'GET /api/v1/usage',
    effect: 'reads',
    input: z.strictObject({
      groupBy: z.enum(['day', 'agent', 'task', 'project', 'model']).optional(),
      from: date().optional().describe('The first day, in UTC; 29 days before the last'),
      to: date().optional().describe('The last day, in UTC; today'),
      projectId: uuid().optional(),
      agentId: uuid().optional().describe('With groupBy day'),
      taskId: uuid().optional().describe('With groupBy day'),
      model: z.string().optional().describe('With groupBy day'),
      limit,
      cursor,
    }),
    call: async ({ client, signal }, query) =>
      client.get('/api/v1/usage', { params: { query: { ...query, format: 'json' } }, signal }),
  }),
];
