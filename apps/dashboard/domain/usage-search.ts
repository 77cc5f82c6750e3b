export const USAGE_GROUPS = ['day', 'project', 'agent', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The numbers of days that the usage page offers. */
export const USAGE_DAYS = [7, 30, 90];

/** The address of the usage page. */
export interface UsageSearch {
  groupBy?: UsageGroup;
  days?: number;
  projectId?: string;
}

/** Parses an address. Invalid parts are ignored, because users can edit addresses. */
export function parseUsageSearch(search: Record<string, unknown>): UsageSearch {
  const { groupBy, days, projectId } = search;
  return {
    ...(USAGE_GROUPS.includes(groupBy as UsageGroup) && { groupBy: groupBy as UsageGroup }),
    ...(USAGE_DAYS.includes(Number(days)) && { days: Number(days) }),
    ...(typeof projectId === 'string' && projectId !== '' && { projectId }),
  };
}
