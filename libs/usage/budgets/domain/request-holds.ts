import type { Standing } from './compliance.js';

/**
 * Holds of single requests to models, within the hold of their run. Pure; amounts are tokens. The
 * caller holds all locks.
 *
 * A run holds at least the sum of the upper bounds of its requests under way. Its estimate, as far
 * as it is not used, counts towards that sum. So a budget is never overdrawn by requests that use no
 * more than their bounds.
 */

/** The upper bounds of the requests under way, by their ids. */
export type Bounds = ReadonlyMap<string, bigint>;

export interface HoldingRun {
  /** The run holds so much of each budget of `heldOf`. */
  held: bigint;
  heldOf: readonly string[];
  requests: Bounds;
  /** The ids of its workspace, project, milestone and task. */
  scopes: readonly (string | null)[];
}

/** A request that wants to be held. The same id again is the same request, perhaps with another bound. */
export interface RequestWish {
  requestId: string;
  tokens: bigint;
  /** It is not asked for again: a refusal applies the policy of the budget to the task. */
  isFinal: boolean;
  /** Its model has a price, so its usage can be counted. */
  isPriced: boolean;
}

export type HoldDecision =
  | {
      kind: 'granted';
      /** The hold of the run from now on, and its budgets. */
      held: bigint;
      heldOf: readonly string[];
      requests: Bounds;
      /** What is added to the reservation of each budget. */
      reserved: ReadonlyMap<string, bigint>;
    }
  /** No active budget covers the run, and it holds none. */
  | { kind: 'unlimited' }
  /** A budget covers the run, and no usage of the model can be counted. */
  | { kind: 'unpriced' }
  /** Requests or runs under way hold too much of the budget now. */
  | { kind: 'wait'; budget: Standing }
  | {
      kind: 'refused';
      budget: Standing;
      /** The tokens that the run would have to hold. */
      wanted: bigint;
    };

/**
 * Decides about the hold of one request. Every active budget that covers the run must have the growth
 * of its hold available, also a budget that is newer than the run. A budget whose policy is `finish`
 * lets running work go on, and refuses nothing.
 */
export function decideHold(
  run: HoldingRun,
  { requestId, tokens, isFinal, isPriced }: RequestWish,
  budgets: readonly Standing[],
): HoldDecision {
  const isHeld = ({ id }: Standing) => run.heldOf.includes(id);
  const covers = ({ isActive, scopeId }: Standing) => isActive && run.scopes.includes(scopeId);
  const own = budgets.filter((budget) => isHeld(budget) || covers(budget));
  if (own.length === 0) return { kind: 'unlimited' };
  if (!isPriced) return { kind: 'unpriced' };
  const requests = new Map(run.requests).set(requestId, tokens);
  const wanted = sumOf(requests);
  const before = run.heldOf.length === 0 ? 0n : run.held;
  const held = max(before, wanted);
  const growths = own.map((budget) => ({
    budget,
    growth: isHeld(budget) ? held - before : held,
  }));
  const lacking = growths.filter(
    ({ budget, growth }) => covers(budget) && budget.policy !== 'finish' && lacks(budget, growth),
  );
  const [first] = lacking.map(({ budget }) => budget).sort(byStrictness);
  if (first === undefined) {
    const reserved = new Map(growths.map(({ budget, growth }) => [budget.id, growth]));
    const added = own.filter((budget) => !isHeld(budget)).map(({ id }) => id);
    return { kind: 'granted', held, heldOf: [...run.heldOf, ...added], requests, reserved };
  }
  const waits = !isFinal && lacking.every(({ budget }) => couldFit(budget, tokens));
  return waits ? { kind: 'wait', budget: first } : { kind: 'refused', budget: first, wanted };
}

/** Returns the hold of a run after some of its requests have ended. It never grows. */
export function heldAfter({
  held,
  used,
  firstHeld,
  usedBefore,
  left,
}: {
  held: bigint;
  /** The tokens that are reported now, and before. */
  used: bigint;
  usedBefore: bigint;
  /** The estimate that the run held when it was handed out. */
  firstHeld: bigint;
  /** The bounds of the requests that are still under way. */
  left: bigint;
}): bigint {
  const estimate = min(held - min(used, held), firstHeld - usedBefore - used);
  return max(min(max(estimate, left), held), 0n);
}

export function sumOf(bounds: Bounds): bigint {
  return [...bounds.values()].reduce((sum, tokens) => sum + tokens, 0n);
}

function lacks({ allocated, consumed, reserved }: Standing, growth: bigint): boolean {
  return consumed >= allocated || (growth > 0n && allocated - consumed - reserved < growth);
}

/** The request would fit if nothing else was held. */
function couldFit({ allocated, consumed }: Standing, tokens: bigint): boolean {
  return consumed < allocated && allocated - consumed >= tokens;
}

/** The policy `abort` is stricter than `pause`. */
function byStrictness(a: Standing, b: Standing): number {
  return Number(b.policy === 'abort') - Number(a.policy === 'abort');
}

const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);
