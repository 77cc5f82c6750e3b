/** What a budget is for: the whole workspace, or one thing in it. */
export const BUDGET_SCOPES = ['global', 'project', 'milestone', 'task'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** What happens to running tasks when a budget is used up: they are paused, may finish, or are cancelled. */
export const BUDGET_POLICIES = ['pause', 'finish', 'abort'] as const;
export type BudgetPolicy = (typeof BUDGET_POLICIES)[number];
