import { taskWord } from '#lib/journal/domain';
import type { LogView } from './log-view.js';

type Entry = Pick<LogView, 'event' | 'previousStatus' | 'newStatus' | 'actor'>;

/**
 * The subject of an entry in one word: a transition by its new status, everything else by its
 * event.
 */
export function actionOf({ event, previousStatus, newStatus, actor }: Entry): string {
  if (event !== 'state_transition') return event;
  const moved = {
    previous_status: previousStatus,
    new_status: newStatus,
    actor_kind: actor.kind,
  };
  return taskWord(moved) ?? event;
}
