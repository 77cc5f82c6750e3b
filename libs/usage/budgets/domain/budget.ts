/** A budget covers the whole workspace, or one project, milestone or task of it. */
export const BUDGET_SCOPES = ['global', 'project', 'milestone', 'task'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** A budget that is used up pauses running tasks, lets them finish, or aborts them. */
export const BUDGET_POLICIES = ['pause', 'finish', 'abort'] as const;
export type BudgetPolicy = (typeof BUDGET_POLICIES)[number];

/** The lengths of recurring periods. */
export const EVERY = ['day', 'week', 'month'] as const;
export type Every = (typeof EVERY)[number];

/** The repetition of a budget's period. */
export interface Recurrence {
  every: Every;
  /** The IANA name of the time zone whose clock the periods follow; UTC by default. */
  timeZone?: string;
}
