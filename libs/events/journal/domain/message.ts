import { CATALOGUE, type CataloguedEvent, type Envelope } from './catalogue.js';
import type { JournalRow } from './journal-row.js';
import { type ShortMessage, shortMessageOf } from './short-message.js';

/** A message to subscribers, made from a row of the journal when it is read. */
export interface Message {
  /** A 64-bit number as a decimal text, unique and ascending in the order of the journal. */
  id: string;
  workspaceId: string;
  subject: 'task' | 'run' | 'agent' | 'question' | 'change' | 'budget' | 'schedule' | 'coordinator';
  /** The affected objects, whether or not the body names them. */
  taskId: string | null;
  agentId: string | null;
  body: Record<string, unknown>;
  /** The short form, if there is one. */
  short: ShortMessage | undefined;
}

/** The fields of each event of the catalogue in order. */
const FIELDS = new Map(
  Object.entries<CataloguedEvent>(CATALOGUE).map(([name, { fields }]) => [
    name,
    Object.entries(fields),
  ]),
);

/** The messages of a row: one, or two if a run moved with its task. */
export function messagesOf(row: JournalRow): Message[] {
  // Two numbers for each row, so that every message has its own and they ascend.
  const id = 2n * BigInt(row.id);
  const first = messageOf(row, row.event, `${id}`);
  const hasRun = row.event === 'task.status_changed' && row.run_version !== null;
  return hasRun ? [first, messageOf(row, 'run.state_changed', `${id + 1n}`)] : [first];
}

function messageOf(row: JournalRow, event: string, id: string): Message {
  const details = row.details ?? {};
  const envelope: Envelope = {
    event,
    workspaceId: row.workspace_id,
    timestamp: timestampOf(row.created_at),
  };
  const body: Record<string, unknown> = { ...envelope };
  const fields = FIELDS.get(event);
  if (!fields) Object.assign(body, details);
  else for (const [name, { of }] of fields) body[name] = of(row, details);
  const subject = event.slice(0, event.indexOf('.')) as Message['subject'];
  const short = event === row.event ? shortMessageOf(row) : undefined;
  const { workspace_id: workspaceId, task_id: taskId, agent_id: agentId } = row;
  return { id, workspaceId, subject, taskId, agentId, body, short };
}

/**
 * Caches the last time, because rows of one statement share it and formatting a date costs as much
 * as the rest of a message.
 */
let written = { at: 0, text: new Date(0).toISOString() };

function timestampOf(at: number): string {
  if (written.at !== at) written = { at, text: new Date(at).toISOString() };
  return written.text;
}
