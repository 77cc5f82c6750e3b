import { z } from 'zod';
import type { components } from '#lib/api-client';
import { cursor, limit, newTask, object, personTask, shortId } from './fields.js';
import { personTool, type PersonAccess, type Tool } from './tool.js';

const READ: PersonAccess = { role: 'VIEWER', scope: 'tasks:read' };
const WRITE: PersonAccess = { role: 'MEMBER', scope: 'tasks:write' };
const ADMINISTER: PersonAccess = { role: 'ADMIN', scope: 'workspace:admin' };

const scheduleId = shortId();
const task = z.strictObject({ ...newTask, ...personTask }).omit({ idempotencyKey: true });
const tasks = z
  .array(
    task.extend({
      ref: z.string().optional().describe('Your name for the task among these.'),
      dependsOn: z
        .array(z.union([z.string(), z.strictObject({ ref: z.string() })]))
        .optional()
        .describe('IDs of tasks, or `{"ref": …}` of tasks in this list.'),
    }),
  )
  .optional()
  .describe('Several tasks instead of `task`.');

const rule = {
  cron: z.string().optional().describe('Cron expression, such as `0 9 * * MON-FRI`.'),
  timeZone: z.string().optional().describe('IANA time zone of `cron`; UTC by default.'),
  everySeconds: z.int().optional(),
};
const policies = {
  overlap: z
    .enum(['skip', 'queue', 'allow', 'cancel'])
    .optional()
    .describe('What happens if an earlier task has not finished; `skip` by default.'),
  missed: z
    .enum(['none', 'last', 'all'])
    .optional()
    .describe('Which due times start more than 60 s late; `last` by default.'),
  missedLimit: z.int().optional().describe('With `all`: maximum number of late starts.'),
  jitterSeconds: z.int().optional().describe('Maximum delay of a start in seconds.'),
};

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
      'Creates a schedule. At each due time it creates its tasks. Set either `cron` or ' +
      '`everySeconds`.',
    route: 'POST /api/v1/schedules',
    effect: 'adds',
    input: z.strictObject({ name: z.string(), ...rule, ...policies, task: task.optional(), tasks }),
    call: ({ client, signal }, { task: one, tasks: many, ...body }) =>
      client.post('/api/v1/schedules', {
        body: { ...body, tasks: tasksOf(one, many) ?? [] },
        signal,
      }),
  }),
  personTool(READ, {
    name: 'preview_schedule',
    title: 'Preview a schedule',
    description:
      'Returns the next due times of a rule, without a schedule. Set either `cron` or ' +
      '`everySeconds`.',
    route: 'POST /api/v1/schedules/preview',
    effect: 'reads',
    input: z.strictObject({ ...rule, count: z.int().min(1).max(100).optional() }),
    call: ({ client, signal }, body) => client.post('/api/v1/schedules/preview', { body, signal }),
  }),
  personTool(WRITE, {
    name: 'change_schedule',
    title: 'Change a schedule',
    description:
      'Changes a schedule. Absent fields stay. A new rule counts from now on. `task` or `tasks` ' +
      'replace all of its tasks; a "[redacted]" keeps its value.',
    route: 'PATCH /api/v1/schedules/{id}',
    effect: 'changes',
    idempotent: true,
    input: z.strictObject({
      scheduleId,
      name: z.string().optional(),
      ...rule,
      ...policies,
      task: task.optional(),
      tasks,
    }),
    call: ({ client, signal }, { scheduleId: id, task: one, tasks: many, ...fields }) => {
      const replaced = tasksOf(one, many);
      return client.patch('/api/v1/schedules/{id}', {
        params: { path: { id } },
        body: { ...fields, ...(replaced && { tasks: replaced }) },
        signal,
      });
    },
  }),
  personTool(WRITE, {
    name: 'delete_schedule',
    title: 'Delete a schedule',
    description: 'Deletes a schedule. Its tasks stay.',
    route: 'DELETE /api/v1/schedules/{id}',
    effect: 'ends',
    input: z.strictObject({ scheduleId }),
    call: async ({ client, signal }, { scheduleId: id }) => {
      await client.delete('/api/v1/schedules/{id}', { params: { path: { id } }, signal });
      return { id, deleted: true };
    },
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
      'Creates new tasks like the dead ones that the IDs or the other fields select. Correct the ' +
      'cause of their failure before, or change their input.',
    route: 'POST /api/v1/dead-letter/replay',
    effect: 'adds',
    input: z.strictObject({
      taskIds: z.array(shortId()).optional(),
      group: z.string().optional().describe('The fingerprint of a group.'),
      taskType: z.string().optional(),
      projectId: shortId().optional(),
      all: z.boolean().optional().describe('Whether to select the whole dead letter.'),
      inputContext: object.optional().describe('Replaces these keys of the input of each task.'),
      perMinute: z.int().optional().describe('Maximum number of replays that start in a minute.'),
    }),
    call: ({ client, signal }, { taskIds: ids, group, taskType, projectId, all, ...body }) => {
      const filter = {
        ...(group !== undefined && { failureFingerprint: group }),
        ...(taskType !== undefined && { taskType }),
        ...(projectId !== undefined && { projectId }),
        ...(all === true && { deadLetter: true }),
      };
      const isFiltered = Object.keys(filter).length > 0;
      return client.post('/api/v1/dead-letter/replay', {
        body: { ...(ids !== undefined && { ids }), ...(isFiltered && { filter }), ...body },
        signal,
      });
    },
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

type Tasks = components['schemas']['CreateSchedule']['tasks'];

/** The tasks of a schedule. Undefined if the call names none. */
function tasksOf(one: object | undefined, many: object[] | undefined): Tasks | undefined {
  const all = [...(one ? [one] : []), ...(many ?? [])];
  return all.length > 0 ? (all as Tasks) : undefined;
}
