import type { Advice, BudgetStanding, Compliance } from './compliance.js';

/** The judgement whether a task used too much for its change. Tokens are bigints as text. */
export interface Efficiency {
  linesChanged: number;
  /** The tokens that so many changed lines usually take. */
  expectedTokens: string;
  /** Expected tokens divided by used tokens, rounded down to 0.01. It is null if nothing was used. */
  ratio: number | null;
  isEfficient: boolean;
}

/** The advice for a run before a commit, with the reason in a sentence. */
export interface CommitCheck extends Compliance {
  message: string;
  /** It is null if the number of lines is unknown. */
  efficiency: Efficiency | null;
}

/** A changed line takes so many tokens, with its test. */
const TOKENS_PER_LINE = 150n;
/** A lower ratio of expected by used tokens is a waste. The unit is one hundredth. */
const WASTEFUL_BELOW = 50n;

/** Checks budgets and the tokens for the changed lines before a commit. It binds nobody. Pure. */
export function commitCheckOf(
  compliance: Compliance,
  usedTokens: bigint,
  linesChanged: number | undefined,
): CommitCheck {
  const efficiency = linesChanged === undefined ? null : efficiencyOf(usedTokens, linesChanged);
  const wasteful = efficiency?.isEfficient === false ? [describeWaste(efficiency, usedTokens)] : [];
  const { advice } = compliance;
  return {
    ...compliance,
    advice: advice === 'continue' && wasteful.length > 0 ? 'warn' : advice,
    message: [describeBudgets(compliance), ...wasteful].join(' '),
    efficiency,
  };
}

/** A change without lines is not judged, because reading can be the task. */
function efficiencyOf(usedTokens: bigint, linesChanged: number): Efficiency {
  const expected = BigInt(linesChanged) * TOKENS_PER_LINE;
  const hundredths = usedTokens === 0n ? null : (expected * 100n) / usedTokens;
  return {
    linesChanged,
    expectedTokens: String(expected),
    ratio: hundredths === null ? null : Number(hundredths) / 100,
    isEfficient: hundredths === null || expected === 0n || hundredths >= WASTEFUL_BELOW,
  };
}

function describeWaste({ linesChanged, expectedTokens }: Efficiency, usedTokens: bigint): string {
  const lines = linesChanged === 1 ? '1 changed line' : `${linesChanged} changed lines`;
  const used = `The task has used ${usedTokens} tokens for ${lines}`;
  return `${used}, which usually take ${expectedTokens}: look for waste in its log.`;
}

const NEXT: Record<Advice, string> = {
  continue: 'go on',
  warn: 'finish soon',
  stop: 'save a checkpoint and stop',
};

function describeBudgets({ advice, budgets }: Compliance): string {
  const decisive = budgets.find((budget) => advice !== 'stop' || isStopping(budget));
  if (decisive === undefined) return 'No budget covers the run: go on.';
  const { scope, percentUsed, available, allocated } = decisive;
  const whose = scope === 'global' ? 'workspace' : scope;
  const used = `${percentUsed} % of the budget of its ${whose} are consumed`;
  return `${used}, ${available} of ${allocated} tokens are available: ${NEXT[advice]}.`;
}

function isStopping({ percentUsed, policy }: BudgetStanding): boolean {
  return percentUsed >= 100 && policy !== 'finish';
}
