import type { BudgetPolicy, BudgetScope } from './budget.js';

/** Where a budget stands. Tokens are bigints as text. */
export interface BudgetStanding {
  budgetId: string;
  scope: BudgetScope;
  scopeId: string;
  allocated: string;
  consumed: string;
  reserved: string;
  available: string;
  /** What is consumed of what is allocated, in percent, rounded down; 100 of a budget of nothing. */
  percentUsed: number;
  policy: BudgetPolicy;
}

/** What a run that goes on spending should know. */
export const ADVICE = ['continue', 'warn', 'stop'] as const;
export type Advice = (typeof ADVICE)[number];

export interface Compliance {
  /** `warn`: more than 90 % of a budget is consumed; `stop`: all of one whose policy is not `finish`. */
  advice: Advice;
  /** The budgets that cover the run now, the one with least left of its whole first. */
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

const WARNED_PERCENT = 90;

/** Whether a run complies with the budgets that cover it: the check between checkpoints. Pure. */
export function complianceOf(budgets: readonly Standing[]): Compliance {
  const standings = budgets
    .filter(({ isActive }) => isActive)
    .map(standingOf)
    .sort((a, b) => b.percentUsed - a.percentUsed);
  return { advice: adviceOf(standings), budgets: standings };
}

export function isConsumed({
  allocated,
  consumed,
}: Pick<Standing, 'allocated' | 'consumed'>): boolean {
  return consumed >= allocated;
}

function adviceOf(standings: readonly BudgetStanding[]): Advice {
  if (standings.some(({ percentUsed, policy }) => percentUsed >= 100 && policy !== 'finish'))
    return 'stop';
  return standings.some(({ percentUsed }) => percentUsed > WARNED_PERCENT) ? 'warn' : 'continue';
}

function standingOf({
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

/** In percent, rounded down; 100 of a budget of nothing. */
export function percentUsed(allocated: bigint, consumed: bigint): number {
  return allocated === 0n ? 100 : Number((consumed * 100n) / allocated);
}
