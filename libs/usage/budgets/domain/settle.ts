/**
 * What reports of usage do to the runs that they are about and to the budgets that cover these. Pure; all amounts are in
 * tokens. Everything is locked by its caller.
 */

export interface ChargedRun {
  runId: string;
  /** What was used, and not reported before. */
  tokens: bigint;
  /** In USD; exact, as text. */
  cost: string;
  /** What it still holds of each of `heldOf`. */
  held: bigint;
  heldOf: readonly string[];
  /** Its task's. */
  estimate: bigint;
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
  /** Its period is now. */
  isActive: boolean;
}

export interface RunCharge {
  runId: string;
  tokens: bigint;
  cost: string;
  held: bigint;
}

export interface BudgetCharge {
  id: string;
  consumed: bigint;
  /** Negative: given back. */
  reserved: bigint;
}

export interface Settlement {
  runs: RunCharge[];
  /** Only those that change. */
  budgets: BudgetCharge[];
}

/** A hold that is used up grows by this part of its task's estimate. */
const GROWTH_DIVISOR = 4n;

/**
 * Usage is taken from the run's hold first, and charged to every budget that covers its task now. A live run that has
 * used up its hold takes another quarter of its estimate from each budget that it holds, if all of them have as much left:
 * what was used has been used whether they have or not.
 */
export function settle(
  runs: readonly ChargedRun[],
  budgets: readonly ChargeableBudget[],
): Settlement {
  const accounts = budgets.map((budget) => ({ budget, consumed: 0n, reserved: 0n }));
  const charges = runs.map((run) => {
    const settled = min(run.tokens, run.held);
    for (const account of accounts) {
      const { id, isActive, scopeId } = account.budget;
      if (run.heldOf.includes(id)) account.reserved -= settled;
      if (isActive && run.scopes.includes(scopeId)) account.consumed += run.tokens;
    }
    return { run, held: run.held - settled };
  });
  for (const charge of charges) charge.held += growthOf(charge, accounts);
  return {
    runs: charges.flatMap(({ run: { runId, tokens, cost }, held }) =>
      tokens === 0n ? [] : [{ runId, tokens, cost, held }],
    ),
    budgets: accounts.flatMap(({ budget: { id }, consumed, reserved }) =>
      consumed === 0n && reserved === 0n ? [] : [{ id, consumed, reserved }],
    ),
  };
}

/** A budget, and what is added to it. */
interface Account extends Pick<BudgetCharge, 'consumed' | 'reserved'> {
  budget: ChargeableBudget;
}

/** Takes it from the accounts. */
function growthOf(
  { run, held }: { run: ChargedRun; held: bigint },
  accounts: readonly Account[],
): bigint {
  if (!run.isLive || run.tokens === 0n || held > 0n || run.heldOf.length === 0) return 0n;
  const wanted = max(run.estimate / GROWTH_DIVISOR, 1n);
  const own = accounts.filter(({ budget }) => run.heldOf.includes(budget.id));
  if (own.length < run.heldOf.length || own.some((account) => left(account) < wanted)) return 0n;
  for (const account of own) account.reserved += wanted;
  return wanted;
}

function left({ budget, consumed, reserved }: Account): bigint {
  return budget.allocated - budget.consumed - consumed - budget.reserved - reserved;
}

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);
