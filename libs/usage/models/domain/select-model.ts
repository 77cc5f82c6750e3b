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

/** The server's own rules, in their order. The SQL function `routed_model` reads them, too. */
export const SERVER_RULES = {
  critical: { minPriority: 9, tier: 'opus' },
  complex: { minComplexity: 9, tier: 'opus' },
  boilerplate: { taskType: 'boilerplate', tier: 'haiku' },
  small: { maxEstimatedTokens: '9999', tier: 'haiku' },
  default: { tier: 'sonnet' },
} as const satisfies Record<string, RoutingRule>;
export type BuiltInRule = keyof typeof SERVER_RULES;
export const BUILT_IN_RULES = Object.keys(SERVER_RULES) as BuiltInRule[];

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
  const rule = BUILT_IN_RULES.find((name) => holds(SERVER_RULES[name], task)) ?? 'default';
  const { tier } = SERVER_RULES[rule];
  return { tier, model: models[tier], rule };
}
