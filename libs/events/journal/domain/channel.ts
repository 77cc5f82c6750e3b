import type { Message } from './message.js';
import { isReassigned } from './short-message.js';

/** A message with its number in its workspace, as a decimal text. */
export interface NumberedMessage extends Message {
  workspaceSeq: string;
}

const CHANNELS: Record<Message['subject'], string> = {
  task: 'tasks',
  run: 'tasks',
  agent: 'agents',
  question: 'tasks',
  change: 'tasks',
  budget: 'budgets',
  schedule: 'tasks',
  coordinator: 'coordinator',
};

/** `tasks:events:{workspace}` and so on. Events of a run are published with those of its task. */
export function channelOf({ subject, workspaceId }: Message): string {
  return `${CHANNELS[subject]}:events:${workspaceId}`;
}

/**
 * The publications of a message: channels and texts alternate. The first is its body with id and
 * number, the second its short form. A subscriber that counts numbers takes that for a repetition.
 */
export function publicationsOf(message: NumberedMessage): string[] {
  const { id, workspaceId, workspaceSeq, short } = message;
  const channel = channelOf(message);
  if (!short) return [channel, textOf(message)];
  const all = [channel, textOf(message), channel, JSON.stringify({ ...short, id, workspaceSeq })];
  if (!isReassigned(short)) return all;
  const command = { command: 'reassign_task', task_id: short.task_id };
  return [...all, `coordinator:commands:${workspaceId}`, JSON.stringify({ ...command, id })];
}

/** The message's body preceded by its id and number. */
export function textOf({ id, workspaceSeq, body }: NumberedMessage): string {
  return JSON.stringify({ id, workspaceSeq, ...body });
}

/**
 * Numbers messages without a gap for each workspace, in their order.
 *
 * @param last the last number of each workspace; raised in place
 */
export function numbered(
  messages: readonly Message[],
  last: Map<string, bigint>,
): NumberedMessage[] {
  // Field by field, because a copy by spreading takes ten times as long.
  return messages.map(({ id, workspaceId, subject, taskId, agentId, body, short }) => {
    const number = (last.get(workspaceId) ?? 0n) + 1n;
    last.set(workspaceId, number);
    const workspaceSeq = `${number}`;
    return { id, workspaceId, subject, taskId, agentId, body, short, workspaceSeq };
  });
}
