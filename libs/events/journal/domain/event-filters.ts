import { AGENT_STATUSES, TASK_STATUSES } from '#lib/transitions/domain';
import { EVENT_NAMES } from './catalogue.js';

/** Filters of names: a name, all of a subject (`task.*` or `task`), and all (`*`). */
export const NAME_FILTERS: readonly string[] = [
  ...new Set(EVENT_NAMES.flatMap((name) => filtersOf(name))),
];

/** Filters of events: those of names, and a change to one status (`task.status_changed.FAILED`). */
export const EVENT_FILTERS: readonly string[] = [
  ...NAME_FILTERS,
  ...TASK_STATUSES.map((status) => `task.status_changed.${status}`),
  ...AGENT_STATUSES.map((status) => `agent.status_changed.${status}`),
];

/** Cache by event name and status. Both come from the catalogue. */
const known = new Map<string, readonly string[]>();

/**
 * True if one of the filters matches the event.
 *
 * @param status `newStatus` of the event, if it has one
 */
export function wants(filters: readonly string[], event: string, status?: unknown): boolean {
  const key = typeof status === 'string' ? `${event}.${status}` : event;
  let naming = known.get(key);
  if (!naming) known.set(key, (naming = [...filtersOf(event), key]));
  return filters.some((filter) => naming.includes(filter));
}

function filtersOf(event: string): string[] {
  const subject = event.slice(0, event.indexOf('.'));
  return ['*', subject, `${subject}.*`, event];
}
