import { hasCode, type Log, messageOf } from '#lib/agent-host';
import type { ModelGate } from '#lib/agent-sessions';
import type {
  Admission,
  ModelAccess,
  ModelReplacement,
  ModelRequest,
  ModelUsage,
  Provider,
  Refusal,
  SeenLimit,
} from '#lib/model-proxy';
import type { DroverApi } from '../api/drover-api.js';
import type { ProviderLimit } from '../api/types.js';
import type { JobReports } from '../execution/job.js';
import { isModelName } from '../execution/usage-line.js';
import { RequestHolds } from './request-holds.js';

/** The time for which the way to a provider is known. A changed key counts after it. */
const ACCESS_MS = 60_000;
/** The maximum of warnings about models in the log of a run, of each kind. */
const MAX_WARNINGS = 100;
/** The time for which a fallback is asked first if the provider told no reset. */
const REFUSED_MS = 60_000;
/** The longest limit that the server accepts. */
const WEEK_SECONDS = 604_800;

const RUN_ENDED: Refusal = { kind: 'refused', reason: 'run_ended', message: 'The run has ended.' };

export interface ModelGateParts {
  api: Pick<DroverApi, 'modelAccess' | 'holdRequest' | 'releaseRequest'>;
  runId: string;
  report: Pick<JobReports, 'log' | 'usage' | 'endEarly'>;
  log: Log;
  /** Gets the tokens of each request. */
  onTokens?: (tokens: number) => void;
}

type Admitted = Extract<Admission, { kind: 'admitted' }>;
type Access = ModelAccess | Refusal;

/**
 * Decides about the requests of one run to models, and reports their usage. The server knows keys and
 * budgets.
 */
export class RunModelGate implements ModelGate {
  /** The limit of the provider that refused the run. */
  limit: ProviderLimit | undefined;
  private readonly known = new Map<Provider, { access: Access; until: number }>();
  private readonly holds: RequestHolds;
  /** The refusal by a budget, which all later requests get. */
  private refusal: Admission | undefined;
  private readonly refused = new Set<string>();
  /** The times by `performance.now()` until which the provider refuses models with fallbacks. */
  private readonly refusedUntil = new Map<string, number>();
  /** The models of which others are fallbacks, by the model that is asked first instead. */
  private readonly replaces = new Map<string, string>();
  private replacements = 0;

  constructor(private readonly parts: ModelGateParts) {
    this.holds = new RequestHolds(parts);
  }

  readonly access = async (provider: Provider): Promise<Access> => {
    const known = this.known.get(provider);
    if (known !== undefined && known.until > performance.now()) return known.access;
    const access = await this.ask(provider);
    this.known.set(provider, { access, until: performance.now() + ACCESS_MS });
    return access;
  };

  /** Asks for the way to a provider while the session starts. A failure repeats with its request. */
  prepare(provider: Provider | undefined): void {
    if (provider !== undefined) this.access(provider).catch(() => undefined);
  }

  readonly admit = async (request: ModelRequest, signal: AbortSignal): Promise<Admission> => {
    const { limit, refusal } = this;
    if (limit !== undefined) {
      const message = `The provider of ${request.model} has refused this run; it continues later.`;
      return { kind: 'refused', reason: 'provider_limited', message };
    }
    if (refusal !== undefined) return refusal;
    const admission = await this.hold(request, signal);
    if (admission.kind === 'admitted') return this.withOpenFirst(request.model, admission);
    if (isOfModel(admission)) this.warnOfModel(request.model, admission);
    else if (this.refusal === undefined) this.end(admission);
    return admission;
  };

  readonly ended = (usage: ModelUsage): void => {
    const { id, requestedModel, input, output, cacheRead, cacheWrite, timeToFirstTokenMs } = usage;
    const model = isModelName(usage.model) ? usage.model : requestedModel;
    const tokens = input + output + cacheRead + cacheWrite;
    if (tokens === 0) return this.holds.release(id);
    // Cached input repeats with each request, and says nothing about the work.
    this.parts.onTokens?.(input + output);
    this.note(model, usage);
    this.parts.report.usage([
      {
        id,
        model,
        ...(model !== requestedModel && isModelName(requestedModel) && { requestedModel }),
        inputTokens: input,
        outputTokens: output,
        cacheReadTokens: cacheRead,
        cacheWriteTokens: cacheWrite,
        // Servers of other providers' APIs may tell reasoning beside the output.
        reasoningTokens: Math.min(usage.reasoning, output),
        ...(timeToFirstTokenMs !== undefined && {
          timeToFirstTokenMs: Math.round(timeToFirstTokenMs),
        }),
        estimated: usage.estimated,
        operation: 'model_request',
      },
    ]);
  };

  /** The transcript has the tokens of each request; the ledger has their cost. */
  private note(model: string, usage: ModelUsage): void {
    const { input, output, cacheRead, cacheWrite, estimated } = usage;
    const counts = [
      `${input} input`,
      ...(cacheRead > 0 ? [`${cacheRead} cache read`] : []),
      ...(cacheWrite > 0 ? [`${cacheWrite} cache write`] : []),
      `${output} output`,
    ];
    const message = `${model}: ${counts.join(', ')} tokens${estimated ? ' (estimated)' : ''}`;
    this.parts.report.log('DEBUG', message, 'model_usage');
  }

  readonly limited = (seen: SeenLimit, ofFallbacks: readonly SeenLimit[]): void => {
    const all = [seen, ...ofFallbacks];
    const asked = this.replaces.get(seen.model);
    const main = all.find(({ model }) => model === asked) ?? seen;
    const fallbacks = all.filter((one) => one !== main).map(modelAndTime);
    this.limit = {
      provider: main.provider,
      ...modelAndTime(main),
      allModels: main.scope === 'key',
      kind: main.reason === 'quota' ? 'quota_exhausted' : 'rate_limited',
      ...(fallbacks.length > 0 && { fallbacks }),
    };
    this.parts.report.endEarly('provider_limited');
  };

  /** The run goes on with another model, so its task does not wait for the provider. */
  readonly replaced = ({ model, refused }: ModelReplacement): void => {
    for (const one of refused) {
      const wait = one.retryAfterMs ?? REFUSED_MS;
      this.refusedUntil.set(one.model, performance.now() + wait);
    }
    const [first] = refused;
    if (first === undefined || this.replacements >= MAX_WARNINGS) return;
    this.replacements += 1;
    const message = `The model "${model}" answered instead of "${first.model}". ${first.message}`;
    this.parts.report.log('WARN', message, 'model_replaced');
  };

  /** Models that the provider has refused for a time come last. */
  private withOpenFirst(asked: string, admission: Admitted): Admitted {
    const { model = asked, fallbacks = [] } = admission;
    if (fallbacks.length === 0) return admission;
    const now = performance.now();
    const isOpen = (one: string) => (this.refusedUntil.get(one) ?? 0) <= now;
    const all = [model, ...fallbacks];
    const [first = model, ...rest] = [...all.filter(isOpen), ...all.filter((one) => !isOpen(one))];
    if (first !== model) this.replaces.set(first, model);
    return { kind: 'admitted', ...(first !== asked && { model: first }), fallbacks: rest };
  }

  private async hold(request: ModelRequest, signal: AbortSignal): Promise<Admission> {
    try {
      return await this.holds.ask(request, signal);
    } catch (error) {
      if (hasCode(error, 'stale_run', 'run_not_found')) {
        return RUN_ENDED;
      }
      // The server can have held it before the agent broke off.
      this.holds.release(request.id);
      throw error;
    }
  }

  /** The agent can go on with other models. */
  private warnOfModel(model: string, { reason, message }: Refusal): void {
    const warning = `${reason} ${model}`;
    if (this.refused.has(warning) || this.refused.size >= MAX_WARNINGS) return;
    this.refused.add(warning);
    this.parts.report.log('WARN', message, reason);
  }

  /** The server has applied the policy of the budget to the task. */
  private end(refusal: Refusal): void {
    this.refusal = refusal;
    if (refusal.reason !== 'budget_exceeded') return;
    this.parts.report.log('WARN', refusal.message, 'budget_refused');
    this.parts.report.endEarly('budget');
  }

  private async ask(provider: Provider): Promise<Access> {
    try {
      return await this.parts.api.modelAccess(this.parts.runId, provider);
    } catch (error) {
      if (hasCode(error, 'model_provider_not_found')) return withoutKey(provider);
      if (hasCode(error, 'run_not_found')) return RUN_ENDED;
      this.parts.log.warn('Key of a model provider not received', { error: messageOf(error) });
      throw error;
    }
  }
}

/** The agent repeats this to its user, who can then set the key. */
function withoutKey(provider: Provider): Refusal {
  const command = `drover provider set ${provider}`;
  const message = `The workspace has no key of the provider ${provider}. Set one with \`${command}\`.`;
  return { kind: 'refused', reason: 'no_provider', message };
}

function modelAndTime({ model, retryAfterMs }: SeenLimit) {
  if (retryAfterMs === undefined) return { model };
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return { model, retryAfterSeconds: Math.min(seconds, WEEK_SECONDS) };
}

/** It refuses one model, and no other one. */
function isOfModel({ reason }: Refusal): boolean {
  return reason === 'model_unpriced' || reason === 'model_not_allowed';
}
