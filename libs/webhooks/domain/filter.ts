import { EVENT_NAMES } from '#lib/events';

const GROUPS = [...new Set(EVENT_NAMES.map((name) => `${name.slice(0, name.indexOf('.'))}.*`))];
const FILTERS = ['*', ...GROUPS, ...EVENT_NAMES];

/** `task.status_changed`, `task.*` or `*`. */
export const EVENT_FILTER = new RegExp(
  `^(?:${FILTERS.map((filter) => filter.replaceAll(/[.*]/g, '\\$&')).join('|')})$`,
);

/** Whether an endpoint with these filters gets the event. */
export function wants(filters: readonly string[], event: string): boolean {
  const group = `${event.slice(0, event.indexOf('.'))}.*`;
  return filters.some((filter) => filter === event || filter === group || filter === '*');
}
