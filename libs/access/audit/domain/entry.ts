import { isUuid } from '#lib/kernel';

const API = '/api/v1/';
/** The journal names the actors of changes below this path. */
const OF_TASKS = '/api/v1/agent-tasks';
/** Creating a ticket changes nothing, and every page of the dashboard asks for one. */
const TICKETS = '/api/v1/events/tickets';

/** True for a route of the API, whose refused requests are recorded. @param url as below */
export function isOfApi(url: string): boolean {
  return url.startsWith(API);
}

/**
 * Whether requests of users and API keys to a route are recorded. @param url the router's template:
 * `/api/v1/pauses/:id`
 */
export function isKeptRoute(method: string, url: string): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  if (!isOfApi(url) || url === TICKETS) return false;
  return url !== OF_TASKS && !url.startsWith(`${OF_TASKS}/`);
}

/**
 * Whether the change was made, or refused for lack of permissions. Other failures changed nothing.
 */
export function isKeptStatus(status: number): boolean {
  return (status >= 200 && status < 300) || status === 403;
}

/**
 * A route with the ids of a request. A value in the place of an id that is no id could be anything,
 * and is left out.
 */
export function pathWithIds(url: string, params: Record<string, unknown>): string {
  return url.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    return isUuid(value) ? value.toLowerCase() : `{${name}}`;
  });
}

/** The lowest id of a moment, because ids start with their milliseconds. */
export function firstIdOf(moment: string): string {
  // A moment outside of the range of ids lies before or after all of them.
  const ms = Math.min(Math.max(Math.ceil(Date.parse(moment)), 0), 2 ** 48 - 1);
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
