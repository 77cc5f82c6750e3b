import type { components } from '#lib/api-client';
import { FormError } from './task-draft.js';

type Schemas = components['schemas'];
type Routing = Schemas['ModelRouting'];
type Rule = Schemas['RoutingRule'];
type Change = Schemas['SetModelRouting'];

export const TIERS = ['haiku', 'sonnet', 'opus'] as const;

/** Describes the tasks of a rule. All conditions must hold. */
export function describeConditions(rule: Rule, nameOf: (projectId: string) => string): string {
  const conditions = [
    rule.taskType !== undefined && `type ${rule.taskType}`,
    rule.projectId !== undefined && `project ${nameOf(rule.projectId)}`,
    rule.minPriority !== undefined && `priority ${rule.minPriority} or more`,
    rule.minComplexity !== undefined && `complexity ${rule.minComplexity} or more`,
    rule.maxEstimatedTokens !== undefined &&
      `at most ${Number(rule.maxEstimatedTokens).toLocaleString('en')} estimated tokens`,
  ].filter((condition) => condition !== false);
  return conditions.length === 0 ? 'every task' : conditions.join(', ');
}

/** Reads a rule from its form. Empty fields are no conditions. */
export function toRule(form: FormData): Schemas['RoutingRuleRequest'] {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const number = (name: 'minPriority' | 'minComplexity') =>
    text(name) === '' ? {} : { [name]: Number(text(name)) };
  const words = (name: 'taskType' | 'projectId' | 'maxEstimatedTokens' | 'model') =>
    text(name) === '' ? {} : { [name]: text(name) };
  return {
    ...words('taskType'),
    ...words('projectId'),
    ...number('minPriority'),
    ...number('minComplexity'),
    ...words('maxEstimatedTokens'),
    ...(text('model') === '' ? { tier: text('tier') as (typeof TIERS)[number] } : words('model')),
  };
}

/** Writes fallbacks as lines of a form: `model: first, second`. */
export function formatFallbacks(fallbacks: Routing['fallbacks']): string {
  return fallbacks.map(({ model, models }) => `${model}: ${models.join(', ')}`).join('\n');
}

/** Reads the lines of `formatFallbacks`. @throws FormError for a line without models */
export function parseFallbacks(text: string): Routing['fallbacks'] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    // A name can have a colon itself, before a version: the first one before a space ends it.
    const [model = '', ...rest] = line.trim().split(': ');
    const models = rest
      .join(' ')
      .split(/[,\s]+/)
      .filter(Boolean);
    if (model === '' || models.length === 0)
      throw new FormError(`Write "${line.trim()}" as model: other model, …`, 'fallbacks');
    return { model: model.trim(), models };
  });
}

/** The whole body of a change, because each request replaces all members. */
export function changeRouting(
  { enabled, rules, tiers, fallbacks }: Routing,
  change: Partial<Change>,
): Change {
  return { enabled, rules, tiers, fallbacks, ...change };
}
