import type { LogView } from './log-view.js';

type Entry = Pick<LogView, 'event' | 'previousStatus' | 'newStatus' | 'actor'>;

const BY_STATUS: Readonly<Record<string, string>> = {
  ASSIGNED: 'task_assigned',
  RUNNING: 'task_started',
  PAUSED: 'task_paused',
  COMPLETED: 'task_completed',
  FAILED: 'task_failed',
  ARCHIVED: 'task_archived',
};

const BACK_FROM: Readonly<Record<string, string>> = {
  PAUSED: 'task_resumed',
  ABORTED: 'task_requeued',
  FAILED: 'task_requeued',
};

/** What an entry is about in one word each: a transition by where it led to, all else by its event. */
export function actionOf({ event, previousStatus, newStatus, actor }: Entry): string {
  if (event !== 'state_transition' || newStatus === null) return event;
  if (newStatus === 'PENDING') return BACK_FROM[previousStatus ?? ''] ?? 'task_released';
  if (newStatus !== 'ABORTED') return BY_STATUS[newStatus] ?? event;
  return actor.kind === 'user' || actor.kind === 'api_key' ? 'task_cancelled' : 'task_recovery';
}
