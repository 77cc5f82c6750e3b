import { TASK_STATUSES, type TaskStatus } from './status.js';

/** What the address of the list of tasks says. */
export interface TaskFilter {
  status?: TaskStatus[];
  text?: string;
  taskType?: string;
  tag?: string;
  priority?: number;
  agentId?: string;
  projectId?: string;
}

const LONGEST = 200;

/** The filter of an address; whatever is no filter is left out of it, since anybody can write an address. */
export function filterOf(search: Record<string, unknown>): TaskFilter {
  const filter: TaskFilter = {};
  const status = [search['status']].flat().filter(isStatus);
  if (status.length > 0) filter.status = [...new Set(status)];
  for (const name of ['text', 'taskType', 'tag', 'agentId', 'projectId'] as const) {
    const value = search[name];
    const text = typeof value === 'number' ? String(value) : value;
    if (typeof text === 'string' && text.trim() !== '') filter[name] = text.slice(0, LONGEST);
  }
  const priority = Number(search['priority']);
  if (Number.isInteger(priority) && priority >= 1 && priority <= 10) filter.priority = priority;
  return filter;
}

/** As the API takes it. */
export function queryOf({ tag, ...filter }: TaskFilter) {
  return { ...filter, ...(tag === undefined ? {} : { tags: [tag] }) };
}

function isStatus(value: unknown): value is TaskStatus {
  return TASK_STATUSES.includes(value as TaskStatus);
}
