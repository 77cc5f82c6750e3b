import { isUuid } from '#lib/kernel';

/** Below which the journal names who made, changed, steered or assigned a task. */
const OF_TASKS = '/api/v1/agent-tasks';
/** Changes nothing, and is asked for with every page of the dashboard. */
const TICKETS = '/api/v1/events/tickets';

/** Whether requests of a route are kept, if users or API keys send them. @param url as the router has it: `/api/v1/pauses/:id` */
export function isKeptRoute(method: string, url: string): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  if (!url.startsWith('/api/v1/') || url === TICKETS) return false;
  return url !== OF_TASKS && !url.startsWith(`${OF_TASKS}/`);
}

/** Whether the change was made, or refused for want of rights. What failed otherwise has changed nothing. */
export function isKeptStatus(status: number): boolean {
  return (status >= 200 && status < 300) || status === 403;
}

/** A route with the ids of a request. What is in the place of an id and is none may be anything, and is left out. */
export function pathWithIds(url: string, params: Record<string, unknown>): string {
  return url.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    return isUuid(value) ? value.toLowerCase() : `{${name}}`;
  });
}

/** The lowest id of a moment: ids begin with their milliseconds. */
export function firstIdOf(moment: string): string {
  // What is outside of the times of ids lies before or behind all of them.
  const ms = Math.min(Math.max(Math.ceil(Date.parse(moment)), 0), 2 ** 48 - 1);
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
