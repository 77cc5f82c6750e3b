import { DroverError } from '#lib/kernel';
import {
  anyVersionOf,
  beginsWith,
  escapePattern,
  FAMILIES,
  plainName,
  providerOf,
} from '#lib/models/domain';

/** A provider refuses too many requests, or a quota is used up until a time. */
export const LIMIT_KINDS = ['rate_limited', 'quota_exhausted'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** The report of a run about the provider that refused it. */
export interface LimitReport {
  /** By default it is the provider of the model, if that is known. */
  provider?: string;
  /** By default it is the model of the run. */
  model?: string;
  /** The provider refuses all of its models, not only this one. */
  allModels?: boolean;
  kind?: LimitKind;
  retryAfterSeconds?: number;
  until?: string;
}

/** The models that a provider refuses. */
export interface Limited {
  provider: string;
  /** Null means all models of the provider. */
  model: string | null;
  /** The source of a regular expression for their names, in JavaScript and in Postgres. */
  covers: string;
  /** The refused model without its version. */
  refused: string;
}

export const MAX_LIMIT_SECONDS = 7 * 86_400;
/** The default if a report names no time. */
export const DEFAULT_LIMIT_SECONDS = 60;

/**
 * Finds the models that a report closes.
 *
 * @param runModel the model that the run was given, or null
 * @returns null if no model is named, or if its provider is unknown
 */
export function limitedBy(report: LimitReport, runModel: string | null): Limited | null {
  const named = report.model ?? runModel;
  if (named === null) return null;
  const name = plainName(named);
  const said = report.provider?.toLowerCase();
  // Workers name the API of Google, and names of models give the company.
  const provider = said === 'gemini' ? 'google' : (said ?? providerOf(name));
  if (provider === undefined) return null;
  if (report.allModels) {
    return { provider, model: null, covers: allModelsOf(provider, name), refused: name };
  }
  return { provider, model: name, covers: anyVersionOf(name), refused: name };
}

/**
 * Computes the duration in seconds: 0 for a past time, at most MAX_LIMIT_SECONDS.
 *
 * @throws DroverError `validation_failed` if the time is given twice
 */
export function limitSeconds({ retryAfterSeconds, until }: LimitReport, now: Date): number {
  if (until === undefined) return retryAfterSeconds ?? DEFAULT_LIMIT_SECONDS;
  if (retryAfterSeconds !== undefined) {
    const message = 'cannot be given together with retryAfterSeconds';
    throw new DroverError('validation_failed', { errors: [{ field: 'until', message }] });
  }
  const seconds = (Date.parse(until) - now.getTime()) / 1_000;
  return Math.min(Math.max(seconds, 0), MAX_LIMIT_SECONDS);
}

/** An unknown provider has the models with its name, and the refused one. */
function allModelsOf(provider: string, refusedModel: string): string {
  const own = `${escapePattern(provider)}[-./:]`;
  const family = FAMILIES[provider];
  const all = beginsWith(family === undefined ? own : `${own}|${family}`);
  return all.test(refusedModel) ? all.source : `${all.source}|${anyVersionOf(refusedModel)}`;
}
