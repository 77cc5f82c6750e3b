import type { EstimateSource } from './estimate-source.js';

/*
 * How many tokens a task is expected to use: what its client says, else by its complexity, else what such tasks used.
 * In whole numbers: a float would round some products up by one token.
 */

const TOKENS_PER_POINT = 1_000;
/** In percent of what is before each: tests are written too, nobody knows the work exactly, nor this phase of it. */
const OVERHEAD_PERCENT = { tests: 120, general: 130, phase: 115 } as const;

const OVERHEADS = Object.values(OVERHEAD_PERCENT);
/** Tokens of one point of complexity, with all overheads: 1794. */
export const TOKENS_WITH_OVERHEADS =
  OVERHEADS.reduce((tokens, percent) => tokens * percent, TOKENS_PER_POINT) /
  100 ** OVERHEADS.length;

/** Of a task of which nothing is known. */
const DEFAULT_COMPLEXITY = 5;
/** A factor has four decimals. */
const FACTOR_UNIT = 10_000;
export const FACTOR_BOUNDS = { least: 0.1, most: 10 } as const;
/** What a client may say that a task uses, in tokens. A JavaScript number holds it exactly. */
export const MAX_ESTIMATE = 10n ** 15n;

/** What tasks of a kind really used: those of a type, in one project or in all of a workspace. */
export interface Calibration {
  /** By which the formula has to be multiplied, 0.1 to 10; null: too few of them have a complexity. */
  factor: number | null;
  /** Tokens. */
  medianUsed: bigint;
}

/** What is said of a task before its estimate is found. */
export interface Estimated {
  taskType: string;
  projectId?: string | null;
  /** Tokens, in decimal digits. */
  estimatedTokens?: string | null;
  /** 1 to 100. */
  estimatedComplexity?: number | null;
}

export interface Estimate {
  estimatedTokens: string;
  estimateSource: EstimateSource;
}

/**
 * The seed's formula, rounded up: complexity * 1000 * 1.2 * 1.3 * 1.15, times what was learned of such tasks.
 *
 * @param complexity 1 to 100
 * @param factor with four decimals at most
 */
export function estimateTokens(complexity: number, factor = 1): bigint {
  const scaled = complexity * TOKENS_WITH_OVERHEADS * Math.round(factor * FACTOR_UNIT);
  return BigInt(Math.ceil(scaled / FACTOR_UNIT));
}

/** What is known of the kinds of tasks of a workspace. */
export class Calibrations {
  static readonly NONE = new Calibrations([]);
  private readonly byKind: ReadonlyMap<string, Calibration>;

  /** @param known each with its type, and its project or null for all of them */
  constructor(known: readonly (Calibration & { taskType: string; projectId: string | null })[]) {
    this.byKind = new Map(
      known.map(({ taskType, projectId, ...one }) => [kindOf(taskType, projectId), one]),
    );
  }

  get size(): number {
    return this.byKind.size;
  }

  /** The estimate of a task: given, else by its complexity, else from history, else the default. */
  estimate(task: Estimated): Estimate {
    const { estimatedTokens: given, estimatedComplexity: complexity } = task;
    if (given != null) return { estimatedTokens: given, estimateSource: 'given' };
    if (complexity != null) {
      const factor = this.find(task, 'factor') ?? 1;
      return found(estimateTokens(complexity, factor), 'complexity');
    }
    const used = this.find(task, 'medianUsed');
    if (used !== null) return found(used, 'history');
    return found(estimateTokens(DEFAULT_COMPLEXITY), 'default');
  }

  /** Of its project and type, else of its type. */
  private find<Name extends keyof Calibration>(
    { taskType, projectId }: Estimated,
    name: Name,
  ): Calibration[Name] | null {
    const ofProject = projectId && this.byKind.get(kindOf(taskType, projectId))?.[name];
    return ofProject || (this.byKind.get(kindOf(taskType, null))?.[name] ?? null);
  }
}

function found(tokens: bigint, estimateSource: EstimateSource): Estimate {
  return { estimatedTokens: String(tokens), estimateSource };
}

function kindOf(taskType: string, projectId: string | null): string {
  return `${projectId?.toLowerCase() ?? ''} ${taskType}`;
}

/** A task as it is, with its estimate. */
export type CurrentEstimate = Estimate & Required<Estimated> & { estimatedTokens: string };

/**
 * What the estimate of a task is to be found from again; null: it stays as it is. One that the client has given stays
 * until the client takes it back with null.
 *
 * @param change what the client writes; what is left out stays
 */
export function estimatedAnew(
  current: CurrentEstimate,
  change: Omit<Estimated, 'taskType'>,
): Estimated | null {
  const { taskType, estimatedComplexity: complexity } = current;
  const given = current.estimateSource === 'given' ? current.estimatedTokens : null;
  const next = {
    taskType,
    projectId: current.projectId,
    estimatedTokens: given,
    estimatedComplexity: complexity,
    ...definedOf(change),
  };
  const stays = next.estimatedTokens === given && next.estimatedComplexity === complexity;
  return stays ? null : next;
}

function definedOf(change: Omit<Estimated, 'taskType'>): Omit<Estimated, 'taskType'> {
  const { projectId, estimatedTokens, estimatedComplexity } = change;
  return Object.fromEntries(
    Object.entries({ projectId, estimatedTokens, estimatedComplexity }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}
