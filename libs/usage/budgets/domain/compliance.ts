import type { BudgetPolicy, BudgetScope } from './budget.js';

/** The state of a budget. Tokens are bigints as text. */
export interface BudgetStanding {
  budgetId: string;
  scope: BudgetScope;
  scopeId: string;
  allocated: string;
  consumed: string;
  reserved: string;
  available: string;
  /** The consumed share in percent, rounded down. A budget of 0 tokens has 100. */
  percentUsed: number;
  policy: BudgetPolicy;
}

/** The advice to a run that continues to use tokens. */
export const ADVICE = ['continue', 'warn', 'stop'] as const;
export type Advice = (typeof ADVICE)[number];

export interface Compliance {
  /**
   * `warn`: more than 90 % of a budget is consumed. `stop`: all of a budget is consumed whose
   * policy is not `finish`.
   */
  advice: Advice;
  /** The budgets that cover the run now, the fullest first. */
  budgets: BudgetStanding[];
}

export interface Standing {
  id: string;
  scope: BudgetScope;
  scopeId: string;
  allocated: bigint;
  consumed: bigint;
  reserved: bigint;
  policy: BudgetPolicy;
  isActive: boolean;
}

const WARNED_PERCENT = 90n;

/** Checks a run against the budgets that cover it. Pure. */
export function complianceOf(budgets: readonly Standing[]): Compliance {
  const active = budgets.filter(({ isActive }) => isActive);
  const standings = active.map(standingOf).sort((a, b) => b.percentUsed - a.percentUsed);
  return { advice: adviceOf(active), budgets: standings };
}

export function isConsumed({
  allocated,
  consumed,
}: Pick<Standing, 'allocated' | 'consumed'>): boolean {
  return consumed >= allocated;
}

function adviceOf(budgets: readonly Standing[]): Advice {
  if (budgets.some((budget) => isConsumed(budget) && budget.policy !== 'finish')) return 'stop';
  return budgets.some(isNearlyConsumed) ? 'warn' : 'continue';
}

/**
 * As the signal `warn` compares it (checks/nearly-used-up.sql.ts). A budget of 0 tokens, which has no
 * signal, counts as consumed here.
 */
function isNearlyConsumed({ allocated, consumed }: Standing): boolean {
  return isConsumed({ allocated, consumed }) || consumed * 100n > allocated * WARNED_PERCENT;
}

export function standingOf({
  id,
  scope,
  scopeId,
  allocated,
  consumed,
  reserved,
  policy,
}: Standing): BudgetStanding {
  return {
    budgetId: id,
    scope,
    scopeId,
    allocated: String(allocated),
    consumed: String(consumed),
    reserved: String(reserved),
    available: String(allocated - consumed - reserved),
    percentUsed: percentUsed(allocated, consumed),
    policy,
  };
}

/** The consumed share in percent, rounded down. A budget of 0 tokens has 100. */
export function percentUsed(allocated: bigint, consumed: bigint): number {
  return allocated === 0n ? 100 : Number((consumed * 100n) / allocated);
}
