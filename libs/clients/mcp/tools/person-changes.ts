import { z } from 'zod';
import { personTool, type Tool } from './tool.js';
import { cursor, limit, shortId } from './fields.js';

const changeId = shortId().describe('Id of the change, which is that of its task.');

const comments = z
  .array(
    z.strictObject({
      path: z.string(),
      line: z.int().min(1),
      side: z.enum(['before', 'after']).optional().describe('Default: after the change.'),
      text: z.string(),
    }),
  )
  .optional()
  .describe('Remarks about lines.');

export const PERSON_CHANGE_TOOLS: readonly Tool[] = [
  personTool(
    { role: 'VIEWER', scope: 'tasks:read' },
    {
      name: 'list_changes',
      title: 'List changes',
      description:
        'Lists changes of code that tasks made, the newest first. IN_REVIEW: a change waits for ' +
        'its review.',
      route: 'GET /api/v1/changes',
      effect: 'reads',
      input: z.strictObject({
        state: z
          .enum(['WORKING', 'PROVING', 'IN_REVIEW', 'APPROVED', 'MERGED', 'FAILED', 'CLOSED'])
          .optional(),
        repositoryId: shortId().optional(),
        limit,
        cursor,
      }),
      call: ({ client, signal }, query) =>
        client.get('/api/v1/changes', { params: { query }, signal }),
    },
  ),
  personTool(
    { role: 'VIEWER', scope: 'tasks:read' },
    {
      name: 'get_change',
      title: 'Get a change',
      description: 'Returns a change with the output of its acceptance, its reviews and its cost.',
      route: 'GET /api/v1/changes/{id}',
      effect: 'reads',
      input: z.strictObject({ changeId }),
      call: ({ client, signal }, { changeId: id }) =>
        client.get('/api/v1/changes/{id}', { params: { path: { id } }, signal }),
    },
  ),
  personTool(
    { role: 'VIEWER', scope: 'tasks:read' },
    {
      name: 'get_change_diff',
      title: 'Get the diff of a change',
      description: 'Returns the diff of the last submission of a change.',
      route: 'GET /api/v1/changes/{id}/diff',
      effect: 'reads',
      input: z.strictObject({ changeId }),
      call: async ({ client, signal }, { changeId: id }) => ({
        diff: await client.get('/api/v1/changes/{id}/diff', { params: { path: { id } }, signal }),
      }),
    },
  ),
  personTool(
    { role: 'MEMBER', scope: 'changes:review' },
    {
      name: 'approve_change',
      title: 'Approve a change',
      description:
        'Approves a change when your user says so. It is then rebased, proven and merged, and you ' +
        'cannot undo it.',
      route: 'POST /api/v1/changes/{id}/approve',
      effect: 'ends',
      idempotent: true,
      input: z.strictObject({
        changeId,
        headCommit: z.string().describe('`headCommit` of the change that your user has reviewed.'),
        body: z.string().optional().describe('Words for the record.'),
      }),
      call: ({ client, signal }, { changeId: id, ...body }) =>
        client.post('/api/v1/changes/{id}/approve', { params: { path: { id } }, body, signal }),
    },
  ),
  personTool(
    { role: 'MEMBER', scope: 'changes:review' },
    {
      name: 'request_changes',
      title: 'Request changes',
      description:
        'Sends a change back to its agent with comments. A new run works on the same branch.',
      route: 'POST /api/v1/changes/{id}/request-changes',
      effect: 'changes',
      input: z.strictObject({
        changeId,
        body: z.string().describe('What the agent must change.'),
        comments,
      }),
      call: ({ client, signal }, { changeId: id, ...body }) =>
        client.post('/api/v1/changes/{id}/request-changes', {
          params: { path: { id } },
          body,
          signal,
        }),
    },
  ),
];
