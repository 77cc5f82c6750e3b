import { matchesPattern } from './permission-rules.js';

/** One allowed model: its name, in which each `*` stands for any characters. */
export const MODEL_PATTERN = /^[\w.:@/+*-]+$/;
/** The longest pattern in characters. */
export const MAX_MODEL_PATTERN = 100;
/** The maximum number of patterns in one list. */
export const MAX_ALLOWED_MODELS = 50;
/** A description for error messages. */
export const MODEL_RULE =
  'the name of a model with * for any characters, as in claude-sonnet-4-6 or gpt-5*';

/** True if a list admits every model. */
export function admitsAllModels(patterns: readonly string[]): boolean {
  return patterns.includes('*');
}

/** Upper and lower case matter. */
export function admitsModel(patterns: readonly string[], model: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, model));
}
