import type { components } from '#lib/api-client';

export type CostGroup = components['schemas']['ChangeCostGroup'];
export type MergedChange = components['schemas']['MergedChange'];
type Ranges = NonNullable<CostGroup['ranges']>;
export type Measured = keyof Ranges;

export const COST_GROUPS = {
  agentKind: 'Agent kind',
  model: 'Model',
  repository: 'Repository',
  taskType: 'Task type',
} as const;
export type GroupBy = keyof typeof COST_GROUPS;

/** The periods that users choose from, in days. */
export const PERIODS = [7, 30, 90, 365] as const;

export interface CostSearch {
  groupBy?: GroupBy;
  days?: number;
}

/** Reads the groups and the period that an address names. */
export function parseCostSearch({ groupBy, days }: Record<string, unknown>): CostSearch {
  const period = PERIODS.find((known) => known === Number(days));
  const isGroup = typeof groupBy === 'string' && Object.hasOwn(COST_GROUPS, groupBy);
  return {
    ...(isGroup && { groupBy: groupBy as GroupBy }),
    ...(period !== undefined && { days: period }),
  };
}

/** A range in percent of the largest one, for a bar. */
export interface Bar {
  start: number;
  median: number;
  end: number;
}

/** The bars of one measure, on one scale. Groups without a merged change have none. */
export function barsOf(groups: readonly CostGroup[], measure: Measured): (Bar | null)[] {
  const ranges = groups.map(({ ranges }) => ranges?.[measure]);
  const most = Math.max(0, ...ranges.map((range) => Number(range?.p90 ?? 0)));
  const percent = (value: string | number) => (most === 0 ? 0 : (Number(value) / most) * 100);
  return ranges.map((range) =>
    range === undefined
      ? null
      : { start: percent(range.p10), median: percent(range.p50), end: percent(range.p90) },
  );
}
