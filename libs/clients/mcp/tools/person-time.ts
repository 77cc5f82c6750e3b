import { z } from 'zod';
import { cursor, limit, newTask, shortId } from './fields.js';
import { personTool, type PersonAccess, type Tool } from './tool.js';

const READ: PersonAccess = { role: 'VIEWER', scope: 'tasks:read' };
const WRITE: PersonAccess = { role: 'MEMBER', scope: 'tasks:write' };
const ADMINISTER: PersonAccess = { role: 'ADMIN', scope: 'workspace:admin' };

const scheduleId = shortId();
const task = z.strictObject(newTask).omit({ idempotencyKey: true });

/** Schedules, the dead letter and the kill switch. */
export const PERSON_TIME_TOOLS: readonly Tool[] = [
  personTool(READ, {
    name: 'list_schedules',
    title: 'List schedules',
    description: 'Lists schedules with their tasks and their next due times, newest first.',
    route: 'GET /api/v1/schedules',
    effect: 'reads',
    input: z.strictObject({ name: z.string().optional(), limit, cursor }),
    call: ({ client, signal }, query) =>
      client.get('/api/v1/schedules', { params: { query }, signal }),
  }),
  personTool(WRITE, {
    name: 'create_schedule',
    title: 'Create a schedule',
    description:
      'Creates a schedule. At each due time it creates the task. Set either `cron` or ' +
      '`everySeconds`.',
    route: 'POST /api/v1/schedules',
    effect: 'adds',
    input: z.strictObject({
      name: z.string(),
      cron: z.string().optional().describe('Cron expression, such as `0 9 * * MON-FRI`.'),
      timeZone: z.string().optional().describe('IANA time zone of `cron`; UTC by default.'),
      everySeconds: z.int().optional(),
      overlap: z
        .enum(['skip', 'queue', 'allow', 'cancel'])
        .optional()
        .describe('What happens if an earlier task has not finished; `skip` by default.'),
      task,
    }),
    call: ({ client, signal }, { task: template, ...body }) =>
      client.post('/api/v1/schedules', { body: { ...body, tasks: [template] }, signal }),
  }),
  personTool(WRITE, {
    name: 'pause_schedule',
    title: 'Pause a schedule',
    description: 'Pauses a schedule. Its tasks go on.',
    route: 'POST /api/v1/schedules/{id}/pause',
    effect: 'changes',
    idempotent: true,
    input: z.strictObject({ scheduleId, reason: z.string().optional() }),
    call: ({ client, signal }, { scheduleId: id, ...body }) =>
      client.post('/api/v1/schedules/{id}/pause', { params: { path: { id } }, body, signal }),
  }),
  personTool(WRITE, {
    name: 'resume_schedule',
    title: 'Resume a schedule',
    description: 'Resumes a schedule from its next due time on.',
    route: 'POST /api/v1/schedules/{id}/resume',
    effect: 'changes',
    idempotent: true,
    input: z.strictObject({ scheduleId }),
    call: ({ client, signal }, { scheduleId: id }) =>
      client.post('/api/v1/schedules/{id}/resume', { params: { path: { id } }, signal }),
  }),
  personTool(WRITE, {
    name: 'run_schedule',
    title: 'Run a schedule now',
    description: 'Creates the tasks of a schedule now, and returns the first one.',
    route: 'POST /api/v1/schedules/{id}/run',
    effect: 'adds',
    input: z.strictObject({ scheduleId }),
    call: ({ client, signal }, { scheduleId: id }) =>
      client.post('/api/v1/schedules/{id}/run', { params: { path: { id } }, signal }),
  }),
  personTool(READ, {
    name: 'list_dead_letter',
    title: 'List the dead letter',
    description: 'Lists groups of tasks that failed for good in the same way, the largest first.',
    route: 'GET /api/v1/dead-letter',
    effect: 'reads',
    input: z.strictObject({ limit, cursor }),
    call: ({ client, signal }, query) =>
      client.get('/api/v1/dead-letter', { params: { query }, signal }),
  }),
  personTool(WRITE, {
    name: 'replay_dead_letter',
    title: 'Replay the dead letter',
    description:
      'Creates new tasks like the dead ones that the IDs or the group select. Correct the cause ' +
      'of their failure before.',
    route: 'POST /api/v1/dead-letter/replay',
    effect: 'adds',
    input: z.strictObject({
      taskIds: z.array(shortId()).optional(),
      group: z.string().optional().describe('The fingerprint of a group.'),
      perMinute: z.int().optional().describe('Maximum number of replays that start in a minute.'),
    }),
    call: ({ client, signal }, { taskIds: ids, group, perMinute }) =>
      client.post('/api/v1/dead-letter/replay', {
        body: {
          ...(ids !== undefined && { ids }),
          ...(group !== undefined && { filter: { failureFingerprint: group } }),
          ...(perMinute !== undefined && { perMinute }),
        },
        signal,
      }),
  }),
  personTool(ADMINISTER, {
    name: 'stop_all_runs',
    title: 'Stop all runs',
    description:
      'Turns the kill switch of the workspace on: it ends all live runs and starts none. Tasks ' +
      'return to the queue. A person turns it off.',
    route: 'POST /api/v1/pauses',
    effect: 'ends',
    input: z.strictObject({ reason: z.string() }),
    call: ({ client, signal }, { reason }) =>
      client.post('/api/v1/pauses', {
        body: { scope: 'workspace', reason, endRuns: true },
        signal,
      }),
  }),
];
