import type { Advice, BudgetStanding, Compliance } from './compliance.js';

/** Whether what a task has used is reasonable for what it has changed. Tokens are bigints as text. */
export interface Efficiency {
  linesChanged: number;
  /** What so many changed lines usually take. */
  expectedTokens: string;
  /** Expected by used, rounded to two places; null when nothing is used. */
  ratio: number | null;
  isEfficient: boolean;
}

/** The advice for a run that is about to commit or to go on, with the reason in a sentence. */
export interface CommitCheck extends Compliance {
  message: string;
  /** null when the number of lines was not told. */
  efficiency: Efficiency | null;
}

/** Tokens that a changed line takes, with its test. */
const TOKENS_PER_LINE = 150n;
/** Less than this of expected by used is a waste: one half, in hundredths. */
const WASTEFUL_BELOW = 50n;

/** The check before a commit: of the budgets, and of what the lines of the change have taken. It binds nobody. Pure. */
export function commitCheckOf(
  compliance: Compliance,
  usedTokens: bigint,
  linesChanged: number | undefined,
): CommitCheck {
  const efficiency = linesChanged === undefined ? null : efficiencyOf(usedTokens, linesChanged);
  const wasteful = efficiency?.isEfficient === false ? [wasteIn(efficiency, usedTokens)] : [];
  const { advice } = compliance;
  return {
    ...compliance,
    advice: advice === 'continue' && wasteful.length > 0 ? 'warn' : advice,
    message: [budgetsIn(compliance), ...wasteful].join(' '),
    efficiency,
  };
}

/** Nothing is judged of a change without lines: its task may have been to read. */
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

function wasteIn({ linesChanged, expectedTokens }: Efficiency, usedTokens: bigint): string {
  const lines = linesChanged === 1 ? '1 changed line' : `${linesChanged} changed lines`;
  return `The task has used ${usedTokens} tokens for ${lines}, which usually take ${expectedTokens}: look for waste in its log.`;
}

const NEXT: Record<Advice, string> = {
  continue: 'go on',
  warn: 'finish soon',
  stop: 'save a checkpoint and stop',
};

function budgetsIn({ advice, budgets }: Compliance): string {
  const told = budgets.find((budget) => advice !== 'stop' || isStopping(budget));
  if (told === undefined) return 'No budget covers the run: go on.';
  const { scope, percentUsed, available, allocated } = told;
  const whose = scope === 'global' ? 'workspace' : scope;
  return `${percentUsed} % of the budget of its ${whose} are consumed, ${available} of ${allocated} tokens are available: ${NEXT[advice]}.`;
}

function isStopping({ percentUsed, policy }: BudgetStanding): boolean {
  return percentUsed >= 100 && policy !== 'finish';
}
