import type { ModelTier, TierModels } from './tiers.js';

/** What is known of a task when it is handed out. */
export interface TaskFacts {
  taskType: string;
  /** 1 to 10, 10 first. */
  priority: number;
  /** 1 to 100; null: nobody has said. */
  estimatedComplexity: number | null;
  /** null: nothing is known of what it will use. */
  estimatedTokens: bigint | null;
  projectId: string | null;
}

/** Holds for the tasks that meet all of its conditions; it has a tier or a model. */
export interface RoutingRule {
  taskType?: string;
  minPriority?: number;
  minComplexity?: number;
  /** A decimal. */
  maxEstimatedTokens?: string;
  projectId?: string;
  tier?: ModelTier;
  model?: string;
}

/** The server's own rules, in their order. */
export const BUILT_IN_RULES = ['critical', 'complex', 'boilerplate', 'small', 'default'] as const;
export type BuiltInRule = (typeof BUILT_IN_RULES)[number];

/** A model for a task, and why. */
export interface Choice {
  model: string;
  /** null: a rule names the model itself. */
  tier: ModelTier | null;
  /** One of the server's, or of the workspace's `own`. */
  rule: BuiltInRule | 'own';
  /** Which of its own it was, from 0 on. */
  index?: number;
}

const CRITICAL_PRIORITY = 9;
const MOST_COMPLEXITY = 8;
const SMALL_TOKENS = 10_000n;

/** The model for a task: the first of the workspace's rules that holds, else the server's. */
export function selectModel(
  task: TaskFacts,
  rules: readonly RoutingRule[],
  models: TierModels,
): Choice {
  const index = rules.findIndex((rule) => holds(rule, task));
  const own = rules[index];
  if (!own) return builtIn(task, models);
  const { tier = null, model } = own;
  const chosen = model ?? (tier && models[tier]);
  return chosen ? { tier, model: chosen, rule: 'own', index } : builtIn(task, models);
}

/** A condition on what is not known of the task does not hold. */
function holds(rule: RoutingRule, task: TaskFacts): boolean {
  const { estimatedComplexity: complexity, estimatedTokens: tokens } = task;
  const { minPriority = 0, minComplexity, maxEstimatedTokens: most } = rule;
  return (
    (rule.taskType === undefined || rule.taskType === task.taskType) &&
    (rule.projectId === undefined || rule.projectId === task.projectId) &&
    task.priority >= minPriority &&
    (minComplexity === undefined || (complexity !== null && complexity >= minComplexity)) &&
    (most === undefined || (tokens !== null && tokens <= BigInt(most)))
  );
}

function builtIn(task: TaskFacts, models: TierModels): Choice {
  const rule = builtInRule(task);
  const tier = TIER_OF[rule];
  return { tier, model: models[tier], rule };
}

const TIER_OF: Record<BuiltInRule, ModelTier> = {
  critical: 'opus',
  complex: 'opus',
  boilerplate: 'haiku',
  small: 'haiku',
  default: 'sonnet',
};

function builtInRule(task: TaskFacts): BuiltInRule {
  const { taskType, priority, estimatedComplexity, estimatedTokens } = task;
  if (priority >= CRITICAL_PRIORITY) return 'critical';
  if (estimatedComplexity !== null && estimatedComplexity > MOST_COMPLEXITY) return 'complex';
  if (taskType === 'boilerplate') return 'boilerplate';
  return estimatedTokens !== null && estimatedTokens < SMALL_TOKENS ? 'small' : 'default';
}
