import { admitsAllModels, admitsModel } from '#lib/kernel';
import { plainName } from './model-names.js';

/** The lists of the levels of a run. A model must be allowed by both. */
export interface ModelLists {
  workspace: readonly string[];
  /** Null means that the run has no project. */
  project: readonly string[] | null;
}

/** The level that does not allow a model, and its list. */
export interface ModelRefusal {
  level: 'workspace' | 'project';
  allowed: readonly string[];
}

/** The maximum number of names in a sentence. */
const MAX_NAMED = 10;

/**
 * Finds the level that does not allow a model, the workspace first. The name of a model allows its
 * versions.
 *
 * @param model undefined for a model without a known name, which only `*` allows
 */
export function refusalOf(
  model: string | undefined,
  { workspace, project }: ModelLists,
): ModelRefusal | undefined {
  if (!isAllowed(model, workspace)) return { level: 'workspace', allowed: workspace };
  if (project === null || isAllowed(model, project)) return undefined;
  return { level: 'project', allowed: project };
}

function isAllowed(model: string | undefined, patterns: readonly string[]): boolean {
  if (admitsAllModels(patterns)) return true;
  if (model === undefined) return false;
  return admitsModel(patterns, model) || admitsModel(patterns, plainName(model));
}

/** Describes a refusal in one sentence for the agent and its user. */
export function describeRefusal(
  model: string | undefined,
  { level, allowed }: ModelRefusal,
): string {
  const named = allowed.slice(0, MAX_NAMED).join(', ');
  const rest = allowed.length > MAX_NAMED ? ` and ${allowed.length - MAX_NAMED} more` : '';
  const which = model === undefined ? 'A model without a valid name' : `The model "${model}"`;
  const list = allowed.length === 0 ? 'no model' : `only ${named}${rest}`;
  return `${which} is not allowed: its ${level} allows ${list}.`;
}
