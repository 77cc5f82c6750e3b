import { EVENT_NAMES } from './catalogue.js';

/** Filters of events: a name, all of a subject (`task.*` or `task`), and all (`*`). */
export const EVENT_FILTERS: readonly string[] = [...new Set(EVENT_NAMES.flatMap(filtersOf))];

/** Cache by event name. Names come from the catalogue. */
const known = new Map<string, readonly string[]>();

/** Whether one of the filters matches the event. */
export function wants(filters: readonly string[], event: string): boolean {
  let naming = known.get(event);
  if (!naming) known.set(event, (naming = filtersOf(event)));
  return filters.some((filter) => naming.includes(filter));
}

function filtersOf(event: string): string[] {
  const subject = event.slice(0, event.indexOf('.'));
  return ['*', subject, `${subject}.*`, event];
}
