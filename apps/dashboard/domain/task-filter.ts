import { LISTED_STATUSES, type ListedStatus } from './status.js';

/** The filter in the address of the task list. */
export interface TaskFilter {
  status?: ListedStatus[];
  text?: string;
  taskType?: string;
  tag?: string;
  priority?: number;
  agentId?: string;
  projectId?: string;
  milestoneId?: string;
  scheduleId?: string;
  /** The first digits of the id. */
  idPrefix?: string;
  /** Only ready tasks that no agent can take. */
  unclaimable?: true;
  /** A group of the dead letter. */
  failureFingerprint?: string;
  /** Only tasks that were created within this time. */
  within?: Within;
  /** Default: newest. */
  sort?: Sort;
}

/** The choices of a time, in hours. */
export const WITHIN = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const;
export type Within = keyof typeof WITHIN;

export const SORTS = ['newest', 'oldest', 'priority', 'updated'] as const;
export type Sort = (typeof SORTS)[number];

const MAX_LENGTH = 200;
const TEXTS = [
  'text',
  'taskType',
  'tag',
  'agentId',
  'projectId',
  'milestoneId',
  'scheduleId',
  'idPrefix',
  'failureFingerprint',
] as const;

/** Parses the filter of an address. Invalid parts are ignored, because users can edit addresses. */
export function parseFilter(search: Record<string, unknown>): TaskFilter {
  const filter: TaskFilter = {};
  const asked = [search['status']].flat();
  // In one order, so that the same filters are the same saved view.
  const status = LISTED_STATUSES.filter((one) => asked.includes(one));
  if (status.length > 0) filter.status = status;
  for (const name of TEXTS) {
    const value = search[name];
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && text.trim() !== '') filter[name] = text.slice(0, MAX_LENGTH);
  }
  if (search['unclaimable'] === true) filter.unclaimable = true;
  const priority = Number(search['priority']);
  if (Number.isInteger(priority) && priority >= 1 && priority <= 10) filter.priority = priority;
  const { within, sort } = search;
  if (typeof within === 'string' && Object.hasOwn(WITHIN, within)) filter.within = within as Within;
  const isSort = SORTS.some((one) => one === sort && one !== 'newest');
  if (isSort) filter.sort = sort as Sort;
  return filter;
}

/** Parses an address whose only filter is a text. */
export function parseText(search: Record<string, unknown>): Pick<TaskFilter, 'text'> {
  const { text } = parseFilter({ text: search['text'] });
  return text === undefined ? {} : { text };
}

/** Converts a filter to query parameters of the API. */
export function toQuery({ tag, text, within, ...filter }: TaskFilter, now = Date.now()) {
  return {
    ...filter,
    ...(text === undefined ? {} : BEGIN_OF_ID.test(text) ? { idPrefix: text } : { text }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(within === undefined ? {} : { createdAfter: beginOf(within, now) }),
  };
}

function beginOf(within: Within, now: number): string {
  return new Date(now - WITHIN[within] * 3_600_000).toISOString();
}

/** No title begins like this. The server compares a shorter text with titles and ids. */
const BEGIN_OF_ID = /^[0-9a-f]{8}(?:-[0-9a-f-]{0,27})?$/i;
