import { DroverError } from '#lib/kernel';
import { anyVersionOf, literally, plainName } from '#lib/models/domain';

/** Too many requests, or a quota that is used up until a time. */
export const LIMIT_KINDS = ['rate_limited', 'quota_exhausted'] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** What a run says of the provider that has refused it. */
export interface LimitReport {
  /** Absent: whose model it is, where that is known. */
  provider?: string;
  /** Absent: the model of the run. */
  model?: string;
  /** The provider refuses all of its models, and not this one alone. */
  allModels?: boolean;
  kind?: LimitKind;
  retryAfterSeconds?: number;
  until?: string;
}

/** What a provider refuses. */
export interface Limited {
  provider: string;
  /** null: all of its models. */
  model: string | null;
  /** The source of a regular expression, for JavaScript and for Postgres: the names of these models. */
  covers: string;
  /** The model that was refused, without its version. */
  refused: string;
}

export const MAX_LIMIT_SECONDS = 7 * 86_400;
/** Where a report says nothing of the time. */
export const DEFAULT_LIMIT_SECONDS = 60;

/** What the names of a provider's models begin with. */
const FAMILIES: Readonly<Record<string, string>> = {
  anthropic: 'claude-',
  openai: '(?:gpt|chatgpt|codex)-|o\\d',
  google: 'gemini-',
};

/**
 * What a report is about.
 *
 * @param runModel the model that the run was given; null: none
 * @returns null where no model is named, or its provider is not known: nothing can be closed for it
 */
export function limitedBy(report: LimitReport, runModel: string | null): Limited | null {
  const named = report.model ?? runModel;
  if (named === null) return null;
  const name = plainName(named);
  const provider = report.provider?.toLowerCase() ?? providerOf(name);
  if (provider === undefined) return null;
  if (report.allModels) {
    return { provider, model: null, covers: allModelsOf(provider, name), refused: name };
  }
  return { provider, model: name, covers: anyVersionOf(name), refused: name };
}

/**
 * For how long, in seconds: 0 for a time that has passed, and MAX_LIMIT_SECONDS for one that is further ahead.
 *
 * @throws DroverError `validation_failed` where the time is given twice
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

/** Names may begin with a route, as `anthropic/claude-…`, `us.anthropic.claude-…` and `ft:gpt-…` do. */
function providerOf(model: string): string | undefined {
  const known = Object.entries(FAMILIES).find(([, family]) => begins(family).test(model));
  return known?.[0];
}

/** Of a provider that is not known: those of its name, and the one that was refused. */
function allModelsOf(provider: string, refusedModel: string): string {
  const own = `${literally(provider)}[-./:]`;
  const family = FAMILIES[provider];
  const all = begins(family === undefined ? own : `${own}|${family}`);
  return all.test(refusedModel) ? all.source : `${all.source}|${anyVersionOf(refusedModel)}`;
}

function begins(what: string): RegExp {
  return new RegExp(`(?:^|[./:])(?:${what})`);
}
