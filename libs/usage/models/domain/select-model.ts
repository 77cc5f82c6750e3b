import type { ModelTier, TierModels } from './tiers.js';

/** The facts of a task that rules look at when it is handed out. */
export interface TaskFacts {
  taskType: string;
  /** The range is 1 to 10; 10 comes first. */
  priority: number;
  /** The range is 1 to 100. Null means unknown. */
  estimatedComplexity: number | null;
  /** Null means unknown. */
  estimatedTokens: bigint | null;
  projectId: string | null;
}

/** A rule matches the tasks that meet all of its conditions. It has a tier or a model. */
export interface RoutingRule {
  taskType?: string;
  minPriority?: number;
  minComplexity?: number;
  /** The tokens in decimal digits. */
  maxEstimatedTokens?: string;
  projectId?: string;
  tier?: ModelTier;
  model?: string;
}

/** The server's rules, in their order. The SQL function `routed_model` reads them, too. */
export const SERVER_RULES = {
  critical: { minPriority: 9, tier: 'opus' },
  complex: { minComplexity: 9, tier: 'opus' },
  boilerplate: { taskType: 'boilerplate', tier: 'haiku' },
  small: { maxEstimatedTokens: '9999', tier: 'haiku' },
  default: { tier: 'sonnet' },
} as const satisfies Record<string, RoutingRule>;
export type BuiltInRule = keyof typeof SERVER_RULES;
export const BUILT_IN_RULES = Object.keys(SERVER_RULES) as BuiltInRule[];

/** A model for a task, and the rule that chose it. */
export interface Choice {
  model: string;
  /** It is null if a rule names the model itself. */
  tier: ModelTier | null;
  /** The name of a server's rule, or `own` for a rule of the workspace. */
  rule: BuiltInRule | 'own';
  /** The index of the rule of the workspace. */
  index?: number;
}

/** Chooses by the first rule of the workspace that matches, else by the server's rules. */
export function selectModel(
  task: TaskFacts,
  rules: readonly RoutingRule[],
  models: TierModels,
): Choice {
  const index = rules.findIndex((rule) => matches(rule, task));
  const own = rules[index];
  if (!own) return chooseByServer(task, models);
  const { tier = null, model } = own;
  const chosen = model ?? (tier && models[tier]);
  return chosen ? { tier, model: chosen, rule: 'own', index } : chooseByServer(task, models);
}

/** A condition on an unknown value is false. */
function matches(rule: RoutingRule, task: TaskFacts): boolean {
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

function chooseByServer(task: TaskFacts, models: TierModels): Choice {
  const rule = BUILT_IN_RULES.find((name) => matches(SERVER_RULES[name], task)) ?? 'default';
  const { tier } = SERVER_RULES[rule];
  return { tier, model: models[tier], rule };
}
