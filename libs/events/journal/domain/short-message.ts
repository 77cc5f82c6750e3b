import type { JournalRow } from './journal-row.js';

type Transition = Pick<JournalRow, 'previous_status' | 'new_status' | 'actor_kind'>;

/** The words of short messages and their conditions. */
export const SHORT_WORDS = {
  task_created: 'it was created',
  task_assigned: 'an agent was given it, or took it',
  task_started: 'its run has begun',
  task_paused: 'it was paused',
  task_resumed: 'it was paused, and waits for an agent again',
  task_completed: 'it is done',
  task_failed: 'it has failed, and is not tried again by itself',
  task_cancelled: 'a user or an API key has ended it',
  task_recovery: 'its run was lost, failed or took too long',
  task_requeued: 'it was aborted or failed, and waits for an agent again',
  task_released: 'its agent has given it back, and it waits for another',
  task_archived: 'it was archived',
  agent_idle: 'it has nothing to do',
  agent_working: 'it has something to do',
  agent_draining: 'it takes no more tasks',
  agent_stale: 'its heartbeats have stopped',
  agent_terminated: 'it is gone',
} as const;

type Word = keyof typeof SHORT_WORDS;

const TASK_WORDS: Readonly<Record<string, Word>> = {
  ASSIGNED: 'task_assigned',
  RUNNING: 'task_started',
  PAUSED: 'task_paused',
  COMPLETED: 'task_completed',
  FAILED: 'task_failed',
  ARCHIVED: 'task_archived',
};

const BACK_FROM: Readonly<Record<string, Word>> = {
  PAUSED: 'task_resumed',
  ABORTED: 'task_requeued',
  FAILED: 'task_requeued',
};

const AGENT_WORDS: Readonly<Record<string, Word>> = {
  IDLE: 'agent_idle',
  WORKING: 'agent_working',
  DRAINING: 'agent_draining',
  ERROR: 'agent_stale',
  TERMINATED: 'agent_terminated',
};

/** The word for a transition of a task by its new status. Undefined if there is none. */
export function taskWord(moved: Transition): Word | undefined {
  const { previous_status: previous, new_status: next, actor_kind: actor } = moved;
  if (next === 'PENDING') return BACK_FROM[previous ?? ''] ?? 'task_released';
  if (next === 'ABORTED') {
    return actor === 'user' || actor === 'api_key' ? 'task_cancelled' : 'task_recovery';
  }
  return TASK_WORDS[next ?? ''];
}

/** The ids that a short message contains beside its word. */
export interface ShortMessage {
  event: Word;
  task_id?: string;
  agent_id?: string;
}

/** An event in one word, for simple subscribers. Undefined if it has no word. */
export function shortMessageOf(row: JournalRow): ShortMessage | undefined {
  const { event, task_id: taskId, agent_id: agentId } = row;
  if (event === 'agent.status_changed') {
    const word = AGENT_WORDS[row.new_status ?? ''];
    return word === undefined ? undefined : { event: word, agent_id: agentId ?? undefined };
  }
  const word = event === 'task.created' ? 'task_created' : wordOfTransition(row);
  return word === undefined ? undefined : { event: word, task_id: taskId ?? undefined };
}

function wordOfTransition(row: JournalRow): Word | undefined {
  return row.event === 'task.status_changed' ? taskWord(row) : undefined;
}

/** Whether the coordinator must now find another agent for the task. */
export function isReassigned({ event }: ShortMessage): boolean {
  return event === 'task_requeued' || event === 'task_released';
}
