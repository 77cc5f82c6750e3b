import type { Provider, SeenLimit } from './contract.js';
import { isObject, type JsonObject, objectIn, objectsIn, textIn } from './json.js';

/** An answer of a provider that can be a limit. */
export interface Refused {
  provider: Provider;
  model: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The error in the answer's body. */
  error: JsonObject;
}

/** @returns undefined for a refusal that is no limit */
export function limitOf(refused: Refused, now: Date): SeenLimit | undefined {
  const { provider, model, status } = refused;
  const reason = reasonOf(refused);
  if (reason === undefined) return undefined;
  const resetsAt = resetOf(refused, now);
  return {
    provider,
    model,
    reason,
    scope: isOfKey(refused, reason) ? 'key' : 'model',
    retryAfterMs: resetsAt && Math.max(0, resetsAt.getTime() - now.getTime()),
    resetsAt,
    status,
  };
}

/** Returns one sentence for the agent and its user. */
export function describeLimit({ provider, model, reason, scope, resetsAt }: SeenLimit): string {
  const whom = scope === 'key' ? 'this key' : `the model "${model}"`;
  const limited = reason === 'rate' ? `has rate limited ${whom}` : DESCRIPTIONS[reason];
  const until = resetsAt ? ` until ${resetsAt.toISOString()}` : '';
  return `The model's provider (${provider}) ${limited}${until}.`;
}

const DESCRIPTIONS = {
  overloaded: 'is overloaded',
  quota: 'has no quota left for this key',
};

const QUOTA_KIND =
  /insufficient_quota|exceeded_current_quota|billing_(?:hard_limit|not_active|error)/;
/** Gateways pass on these words of Anthropic under other names. */
const BALANCE = /your credit balance is too low/i;
const QUOTA_MESSAGE = /credit balance is too low|API usage limits|exceeded your current quota/i;

function reasonOf(refused: Refused): SeenLimit['reason'] | undefined {
  const { provider, error } = refused;
  const status = statusOf(refused);
  if (provider === 'gemini') {
    if (status === 429)
      return violations(error).some((id) => /PerDay/i.test(id)) ? 'quota' : 'rate';
    return status === 503 ? 'overloaded' : undefined;
  }
  const kind = `${textIn(error.type) ?? ''} ${textIn(error.code) ?? ''}`;
  const message = textIn(error.message) ?? '';
  const canBeQuota = status === 200 || status === 400 || status === 429;
  // Anthropic tells these with status 400, whose messages at other providers quote the request.
  const isSaid = status !== 400 || provider === 'anthropic' || BALANCE.test(message);
  const isQuota = QUOTA_KIND.test(kind) || (isSaid && QUOTA_MESSAGE.test(message));
  if (status === 402 || (canBeQuota && isQuota)) return 'quota';
  const isFull = status === 529 || (status === 503 && provider === 'openai');
  if (isFull || kind.includes('overloaded')) return 'overloaded';
  return status === 429 || kind.includes('rate_limit') ? 'rate' : undefined;
}

/** An error in the middle of a stream can tell the status that its answer does not have. */
function statusOf({ status, error }: Refused): number {
  const told = Number(error.code);
  return status === 200 && told >= 400 && told < 600 ? told : status;
}

function isOfKey({ provider, headers, error }: Refused, reason: SeenLimit['reason']): boolean {
  if (provider === 'gemini') {
    const ids = violations(error);
    return ids.length > 0 && !ids.some((id) => /PerModel/i.test(id));
  }
  return reason === 'quota' || headers['anthropic-ratelimit-unified-status'] === 'rejected';
}

function violations(error: JsonObject): string[] {
  return objectsIn(error.details)
    .flatMap(({ violations: found }) => objectsIn(found))
    .map(({ quotaId }) => textIn(quotaId) ?? '');
}

function resetOf({ headers, error }: Refused, now: Date): Date | undefined {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const after = (ms: number | undefined) =>
    ms === undefined || !Number.isFinite(ms) || ms < 0
      ? undefined
      : new Date(now.getTime() + Math.min(ms, LONGEST_MS));
  return (
    after(numberOf(header('retry-after-ms'))) ??
    fromRetryAfter(header('retry-after'), after) ??
    fromEpoch(header('anthropic-ratelimit-unified-reset')) ??
    latest(exhausted(headers, ANTHROPIC).map((value) => dateOf(value))) ??
    latest(exhausted(headers, OPENAI).map((value) => after(msOfDuration(value)))) ??
    after(msOfDuration(retryDelay(error))) ??
    regainOf(error)
  );
}

/** Anthropic tells the end of its spending limit in the sentence alone. */
function regainOf({ message }: JsonObject): Date | undefined {
  const told = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/.exec(textIn(message) ?? '');
  return told ? dateOf(`${told[1]}T${told[2]}Z`) : undefined;
}

/** A wrong header must not stop an agent for ever. */
const LONGEST_MS = 35 * 24 * 3_600_000;

function fromRetryAfter(
  value: string | undefined,
  after: (ms: number | undefined) => Date | undefined,
): Date | undefined {
  const seconds = numberOf(value);
  return seconds === undefined ? dateOf(value) : after(seconds * 1000);
}

function fromEpoch(value: string | undefined): Date | undefined {
  const seconds = numberOf(value);
  return seconds !== undefined && seconds < 1e11 ? new Date(seconds * 1000) : undefined;
}

interface LimitHeaders {
  remaining: RegExp;
  reset: (kind: string) => string;
}

const ANTHROPIC: LimitHeaders = {
  remaining: /^anthropic-ratelimit-(.+)-remaining$/,
  reset: (kind) => `anthropic-ratelimit-${kind}-reset`,
};
const OPENAI: LimitHeaders = {
  remaining: /^x-ratelimit-remaining-(.+)$/,
  reset: (kind) => `x-ratelimit-reset-${kind}`,
};

/** Returns the reset headers of the limits with nothing left. */
function exhausted(headers: Refused['headers'], { remaining, reset }: LimitHeaders): string[] {
  return Object.entries(headers)
    .filter(([name, value]) => remaining.test(name) && Number(value) === 0)
    .map(([name]) => headers[reset(remaining.exec(name)?.[1] ?? '')])
    .filter((value) => typeof value === 'string');
}

function latest(dates: (Date | undefined)[]): Date | undefined {
  const times = dates.filter((date) => date !== undefined).map((date) => date.getTime());
  return times.length > 0 ? new Date(Math.max(...times)) : undefined;
}

function numberOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

function dateOf(value: string | undefined): Date | undefined {
  const time = /\d{4}/.test(value ?? '') ? Date.parse(value ?? '') : NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
}

function retryDelay(error: JsonObject): string | undefined {
  return objectsIn(error.details)
    .map(({ retryDelay: delay }) => textIn(delay))
    .find((delay) => delay !== undefined);
}

/** Reads `6m0s`, `1.5s` and `20ms`. */
function msOfDuration(text: string | undefined): number | undefined {
  const parts = [...(text ?? '').matchAll(/(\d{1,9}(?:\.\d{1,9})?)(ms|[dhms])/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

const UNITS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Returns the error of an answer's body, which Gemini also sends in a list. */
export function errorIn(body: unknown): JsonObject {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const { error } = objectIn(first);
  return isObject(error) ? error : {};
}
