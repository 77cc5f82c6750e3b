/** An event as the outbox holds it, with its number in its workspace. */
export interface NumberedEvent {
  id: string;
  workspace_id: string;
  subject_kind: 'task' | 'run' | 'agent' | 'budget' | 'coordinator';
  workspace_seq: string;
  /** JSON text of an object. */
  payload: string;
}

const CHANNELS: Record<NumberedEvent['subject_kind'], string> = {
  task: 'tasks',
  run: 'tasks',
  agent: 'agents',
  budget: 'budgets',
  coordinator: 'coordinator',
};

/** `tasks:events:{workspace}` and so on; what happens to a run is told beside what happens to its task. */
export function channelOf(event: NumberedEvent): string {
  return `${CHANNELS[event.subject_kind]}:events:${event.workspace_id}`;
}

/**
 * The payload with the event's id and number in front, both as strings, because they are BIGINT.
 * Built as text: parsing and writing each payload again would be most of the relay's work.
 */
export function messageOf(event: NumberedEvent): string {
  const rest = event.payload.slice(event.payload.indexOf('{') + 1);
  const comma = rest.trimStart().startsWith('}') ? '' : ',';
  return `{"id":"${event.id}","workspaceSeq":"${event.workspace_seq}"${comma}${rest}`;
}
