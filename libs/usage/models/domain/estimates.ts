import type { EstimateSource } from './estimate-source.js';

/*
 * Estimates the tokens of a task: by its client, else by its complexity, else by similar tasks. All
 * numbers are whole: a float would round some products up by one token.
 */

const TOKENS_PER_POINT = 1_000;
/** Factors in percent, one after the other: tests, unknown work in general, and in this phase. */
const OVERHEAD_PERCENT = { tests: 120, general: 130, phase: 115 } as const;

const OVERHEADS = Object.values(OVERHEAD_PERCENT);
/** One point of complexity takes 1794 tokens, with all overheads. */
export const TOKENS_WITH_OVERHEADS =
  OVERHEADS.reduce((tokens, percent) => tokens * percent, TOKENS_PER_POINT) /
  100 ** OVERHEADS.length;

/** A task of which nothing is known has this complexity. */
const DEFAULT_COMPLEXITY = 5;
/** A factor has four decimals. */
const FACTOR_UNIT = 10_000;
export const FACTOR_BOUNDS = { least: 0.1, most: 10 } as const;
/** The maximum estimate of a client, in tokens. A JavaScript number holds it exactly. */
export const MAX_ESTIMATE = 10n ** 15n;

/** The real usage of a kind of tasks: a type or a command in one project, or in all of a workspace. */
export interface Calibration {
  /** The factor for the formula, 0.1 to 10. It is null if too few tasks have a complexity. */
  factor: number | null;
  /** The unit is tokens. */
  medianUsed: bigint;
}

/** The facts of a task that its estimate is computed from. */
export interface Estimated {
  taskType: string;
  /** The kind by its command (`commandKindOf`), in place of the type. */
  commandKind?: string | null;
  projectId?: string | null;
  /** The tokens in decimal digits. */
  estimatedTokens?: string | null;
  /** The range is 1 to 100. */
  estimatedComplexity?: number | null;
}

export interface Estimate {
  estimatedTokens: string;
  estimateSource: EstimateSource;
}

/**
 * Computes complexity * 1000 * 1.2 * 1.3 * 1.15 * factor, rounded up.
 *
 * @param complexity 1 to 100
 * @param factor a number with at most four decimals
 */
export function estimateTokens(complexity: number, factor = 1): bigint {
  const scaled = complexity * TOKENS_WITH_OVERHEADS * Math.round(factor * FACTOR_UNIT);
  return BigInt(Math.ceil(scaled / FACTOR_UNIT));
}

/** The calibrations of the kinds of tasks of a workspace. */
export class Calibrations {
  static readonly NONE = new Calibrations([]);
  private readonly byKind: ReadonlyMap<string, Calibration>;

  /** @param known calibrations with their type and project; null stands for all projects */
  constructor(known: readonly (Calibration & { taskType: string; projectId: string | null })[]) {
    this.byKind = new Map(
      known.map(({ taskType, projectId, ...one }) => [kindOf(taskType, projectId), one]),
    );
  }

  get size(): number {
    return this.byKind.size;
  }

  /** Estimates a task: given, else by complexity, else by history, else by default. */
  estimate(task: Estimated): Estimate {
    const { estimatedTokens: given, estimatedComplexity: complexity } = task;
    if (given != null) return { estimatedTokens: given, estimateSource: 'given' };
    if (complexity != null) {
      const factor = this.find(task, 'factor') ?? 1;
      return toEstimate(estimateTokens(complexity, factor), 'complexity');
    }
    const used = this.find(task, 'medianUsed');
    if (used !== null) return toEstimate(used, 'history');
    return toEstimate(estimateTokens(DEFAULT_COMPLEXITY), 'default');
  }

  /** Looks for its kind in its project first, then for its kind. */
  private find<Name extends keyof Calibration>(
    { taskType, commandKind, projectId }: Estimated,
    name: Name,
  ): Calibration[Name] | null {
    const kind = commandKind ?? taskType;
    const ofProject = projectId && this.byKind.get(kindOf(kind, projectId))?.[name];
    return ofProject || (this.byKind.get(kindOf(kind, null))?.[name] ?? null);
  }
}

function toEstimate(tokens: bigint, estimateSource: EstimateSource): Estimate {
  return { estimatedTokens: String(tokens), estimateSource };
}

function kindOf(taskType: string, projectId: string | null): string {
  return `${projectId?.toLowerCase() ?? ''} ${taskType}`;
}

/** A task with its present estimate. */
export type CurrentEstimate = Estimate &
  Required<Omit<Estimated, 'commandKind'>> &
  Pick<Estimated, 'commandKind'> & { estimatedTokens: string };

/**
 * Returns the facts that a changed task is estimated from again, or null if its estimate stays. A
 * given estimate stays until the client removes it with null.
 *
 * @param change the fields that the client writes; other fields stay
 */
export function estimatedAnew(
  current: CurrentEstimate,
  change: Omit<Estimated, 'taskType'>,
): Estimated | null {
  const { taskType, commandKind, estimatedComplexity: complexity } = current;
  const given = current.estimateSource === 'given' ? current.estimatedTokens : null;
  const next = {
    taskType,
    commandKind,
    projectId: current.projectId,
    estimatedTokens: given,
    estimatedComplexity: complexity,
    ...pickDefined(change),
  };
  const stays = next.estimatedTokens === given && next.estimatedComplexity === complexity;
  return stays ? null : next;
}

function pickDefined(change: Omit<Estimated, 'taskType'>): Omit<Estimated, 'taskType'> {
  const { projectId, estimatedTokens, estimatedComplexity } = change;
  return Object.fromEntries(
    Object.entries({ projectId, estimatedTokens, estimatedComplexity }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}
