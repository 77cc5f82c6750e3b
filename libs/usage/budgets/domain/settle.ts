import { type Bounds, heldAfter, sumOf } from './request-holds.js';

/**
 * Settles reports of usage with their runs and the budgets that cover these. It is pure; amounts
 * are tokens. The caller holds all locks.
 */

export interface ChargedRun {
  runId: string;
  /** The tokens of new reports. */
  tokens: bigint;
  /** The exact cost in USD, as text. */
  cost: string;
  /** The run still holds so much of each budget of `heldOf`. */
  held: bigint;
  heldOf: readonly string[];
  /** The estimate of its task. */
  estimate: bigint;
  /** Its requests to models, if it holds any and has new reports (`request-holds.ts`). */
  requests?: {
    /** Those that have not ended with these reports. */
    left: Bounds;
    usedBefore: bigint;
    firstHeld: bigint;
  };
  isLive: boolean;
  /** The ids of its workspace, project, milestone and task. */
  scopes: readonly (string | null)[];
}

export interface ChargeableBudget {
  id: string;
  scopeId: string;
  allocated: bigint;
  consumed: bigint;
  reserved: bigint;
  /** Now is in its period. */
  isActive: boolean;
}

export interface RunCharge {
  runId: string;
  tokens: bigint;
  cost: string;
  held: bigint;
  /** Its requests to models that are still under way, if it held any. */
  requests?: Bounds;
}

export interface BudgetCharge {
  id: string;
  consumed: bigint;
  /** A negative number is given back. */
  reserved: bigint;
}

export interface Settlement {
  runs: RunCharge[];
  /** Budgets that do not change are left out. */
  budgets: BudgetCharge[];
}

/** A hold that is used up grows by this part of the estimate of its task. */
const GROWTH_DIVISOR = 4n;

/**
 * Takes usage from the hold of its run first, and charges it to every budget that covers the task
 * now. A live run that has used up its hold takes another quarter of its estimate from each budget
 * that it holds, if all of them with an active period have that much left. A run that holds single
 * requests returns the rest of the bounds of the ended ones instead. Usage is charged in any case.
 */
export function settle(
  runs: readonly ChargedRun[],
  budgets: readonly ChargeableBudget[],
): Settlement {
  const accounts = budgets.map((budget) => ({ budget, consumed: 0n, reserved: 0n }));
  const charges = runs.map((run) => {
    const settled = run.held - heldBy(run);
    for (const account of accounts) {
      const { id, isActive, scopeId } = account.budget;
      if (run.heldOf.includes(id)) account.reserved -= settled;
      if (isActive && run.scopes.includes(scopeId)) account.consumed += run.tokens;
    }
    return { run, held: run.held - settled };
  });
  for (const charge of charges) charge.held += growHold(charge, accounts);
  return {
    runs: charges.flatMap(({ run: { runId, tokens, cost, requests }, held }) =>
      tokens === 0n && requests === undefined
        ? []
        : [{ runId, tokens, cost, held, ...(requests && { requests: requests.left }) }],
    ),
    budgets: accounts.flatMap(({ budget: { id }, consumed, reserved }) =>
      consumed === 0n && reserved === 0n ? [] : [{ id, consumed, reserved }],
    ),
  };
}

/** Returns the hold of a run after its reports, before it grows. */
function heldBy({ held, tokens, requests, isLive }: ChargedRun): bigint {
  if (requests === undefined || !isLive) return held - min(tokens, held);
  return heldAfter({ held, used: tokens, ...requests, left: sumOf(requests.left) });
}

/** A budget with the amounts that are added to it. */
interface Account extends Pick<BudgetCharge, 'consumed' | 'reserved'> {
  budget: ChargeableBudget;
}

/** Takes the growth of a hold from the accounts. @returns the growth */
function growHold(
  { run, held }: { run: ChargedRun; held: bigint },
  accounts: readonly Account[],
): bigint {
  if (run.requests !== undefined) return 0n;
  if (!run.isLive || run.tokens === 0n || held > 0n || run.heldOf.length === 0) return 0n;
  const wanted = max(run.estimate / GROWTH_DIVISOR, 1n);
  const own = accounts.filter(({ budget }) => run.heldOf.includes(budget.id));
  const lacks = (account: Account) => account.budget.isActive && availableIn(account) < wanted;
  if (own.length < run.heldOf.length || own.some(lacks)) return 0n;
  for (const account of own) account.reserved += wanted;
  return wanted;
}

function availableIn({ budget, consumed, reserved }: Account): bigint {
  return budget.allocated - budget.consumed - consumed - budget.reserved - reserved;
}

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);
