import type { JournalRow } from './journal-row.js';

/** A message to subscribers: made from a row of the journal when it is read. */
export interface Message {
  /** A 64-bit number as a decimal text; unique, and rising in the order of the journal. */
  id: string;
  workspaceId: string;
  subject: 'task' | 'run' | 'agent' | 'budget' | 'coordinator';
  body: Record<string, unknown>;
}

type Details = Record<string, unknown>;
type Body = (row: JournalRow, details: Details) => Record<string, unknown>;

const statusChanged: Body = (row) => ({
  taskId: row.task_id,
  previousStatus: row.previous_status,
  newStatus: row.new_status,
  version: row.version,
  runId: row.run_id,
  agentId: row.agent_id,
  reason: row.reason,
  retryAt: row.retry_at === null ? null : new Date(row.retry_at).toISOString(),
});

const runStateChanged: Body = (row) => ({
  runId: row.run_id,
  taskId: row.task_id,
  agentId: row.agent_id,
  generation: row.generation,
  previousState: row.previous_state,
  newState: row.new_state,
  version: row.run_version,
  reason: row.end_reason,
});

const ofRun = (row: JournalRow) => ({
  taskId: row.task_id,
  runId: row.run_id,
  agentId: row.agent_id,
});

/** The catalogue of events: the fields of each, beside `event`, `workspaceId` and `timestamp`. */
const BODIES: Record<string, Body> = {
  'task.created': (row) => ({
    taskId: row.task_id,
    newStatus: row.new_status,
    version: row.version,
  }),
  'task.status_changed': statusChanged,
  'task.updated': (row, { changedFields }) => ({
    taskId: row.task_id,
    status: row.new_status,
    changed: changedFields,
    version: row.version,
  }),
  'task.progress': (row, { progressPercent }) => ({
    taskId: row.task_id,
    runId: row.run_id,
    progressPercent,
    currentStep: row.message,
    checkpoint: row.log_event === 'checkpoint',
  }),
  'task.dependency_cycle': (row, details) => ({ taskId: row.task_id, ...details }),
  'run.state_changed': runStateChanged,
  'run.hung_warning': (row, { estimatedCompletionAt, lastProgressAt, abortsAfterSeconds }) => ({
    ...ofRun(row),
    estimatedCompletionAt,
    lastProgressAt,
    abortsAt: new Date(row.created_at + Number(abortsAfterSeconds) * 1_000).toISOString(),
  }),
  'run.split_brain_conflict': (row, details) => ({ ...ofRun(row), ...details }),
  'budget.alert': (row, details) => ({ taskId: row.task_id, ...details, message: row.message }),
  'agent.status_changed': (row) => ({
    agentId: row.agent_id,
    previousStatus: row.previous_status,
    newStatus: row.new_status,
    reason: row.reason,
    version: row.version,
  }),
};

/** The messages of a row: one, or two where a run has moved with its task. */
export function messagesOf(row: JournalRow): Message[] {
  // Two numbers for each row, so that every message has one of its own and they rise.
  const id = 2n * BigInt(row.id);
  const first = messageOf(row, row.event, `${id}`);
  const hasRun = row.event === 'task.status_changed' && row.run_version !== null;
  return hasRun ? [first, messageOf(row, 'run.state_changed', `${id + 1n}`)] : [first];
}

function messageOf(row: JournalRow, event: string, id: string): Message {
  const make = BODIES[event] ?? ((_, details) => details);
  const body = {
    event,
    workspaceId: row.workspace_id,
    timestamp: timestampOf(row.created_at),
    ...make(row, row.details ?? {}),
  };
  const subject = event.slice(0, event.indexOf('.')) as Message['subject'];
  return { id, workspaceId: row.workspace_id, subject, body };
}

/** The last one again where rows are of one statement: writing a date costs as much as the rest of a message. */
let written = { at: 0, text: new Date(0).toISOString() };

function timestampOf(at: number): string {
  if (written.at !== at) written = { at, text: new Date(at).toISOString() };
  return written.text;
}
