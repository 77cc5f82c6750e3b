import { hasCode, type Log, messageOf } from '#lib/agent-host';
import type { ModelGate } from '#lib/agent-sessions';
import type {
  Admission,
  ModelAccess,
  ModelRequest,
  ModelUsage,
  Provider,
  SeenLimit,
} from '#lib/model-proxy';
import type { DroverApi } from '../api/drover-api.js';
import type { ProviderLimit } from '../api/types.js';
import type { JobReports } from '../execution/job.js';
import { isModelName } from '../execution/usage-line.js';
import { RequestHolds } from './request-holds.js';

/** The time for which the way to a provider is known. A changed key counts after it. */
const ACCESS_MS = 60_000;
/** The maximum of refused models that the log of a run names. */
const MAX_WARNINGS = 100;

export interface ModelGateParts {
  api: Pick<DroverApi, 'modelAccess' | 'holdRequest' | 'releaseRequest'>;
  runId: string;
  report: Pick<JobReports, 'log' | 'usage' | 'endEarly'>;
  log: Log;
}

type Refusal = Extract<Admission, { kind: 'refused' }>;

/**
 * Decides about the requests of one run to models, and reports their usage. The server knows keys and
 * budgets.
 */
export class RunModelGate implements ModelGate {
  /** The limit of the provider that refused the run. */
  limit: ProviderLimit | undefined;
  private readonly known = new Map<Provider, { access: ModelAccess | undefined; until: number }>();
  private readonly holds: RequestHolds;
  /** The refusal by a budget, which all later requests get. */
  private refusal: Admission | undefined;
  private readonly refused = new Set<string>();

  constructor(private readonly parts: ModelGateParts) {
    this.holds = new RequestHolds(parts);
  }

  readonly access = async (provider: Provider): Promise<ModelAccess | undefined> => {
    const known = this.known.get(provider);
    if (known !== undefined && known.until > performance.now()) return known.access;
    const access = await this.ask(provider);
    this.known.set(provider, { access, until: performance.now() + ACCESS_MS });
    return access;
  };

  readonly admit = async (request: ModelRequest, signal: AbortSignal): Promise<Admission> => {
    const { limit, refusal } = this;
    if (limit !== undefined) {
      const message = `The provider of ${request.model} has refused this run; it continues later.`;
      return { kind: 'refused', reason: 'provider_limited', message };
    }
    if (refusal !== undefined) return refusal;
    const admission = await this.hold(request, signal);
    if (admission.kind === 'admitted') return admission;
    if (isOfModel(admission)) this.warnOfModel(request.model, admission);
    else if (this.refusal === undefined) this.end(admission);
    return admission;
  };

  readonly ended = (usage: ModelUsage): void => {
    const { id, requestedModel, input, output, cacheRead, cacheWrite, timeToFirstTokenMs } = usage;
    const model = isModelName(usage.model) ? usage.model : requestedModel;
    if (input + output + cacheRead + cacheWrite === 0) return this.holds.release(id);
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

  readonly limited = (seen: SeenLimit): void => {
    const { provider, model, scope, reason, retryAfterMs } = seen;
    this.limit = {
      provider,
      model,
      allModels: scope === 'key',
      kind: reason === 'quota' ? 'quota_exhausted' : 'rate_limited',
      ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1000) }),
    };
    this.parts.report.endEarly('provider_limited');
  };

  private async hold(request: ModelRequest, signal: AbortSignal): Promise<Admission> {
    try {
      return await this.holds.ask(request, signal);
    } catch (error) {
      if (hasCode(error, 'stale_run', 'run_not_found')) {
        return { kind: 'refused', reason: 'run_ended', message: 'The run has ended.' };
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

  private async ask(provider: Provider): Promise<ModelAccess | undefined> {
    try {
      return await this.parts.api.modelAccess(this.parts.runId, provider);
    } catch (error) {
      if (hasCode(error, 'model_provider_not_found', 'run_not_found')) return undefined;
      this.parts.log.warn('Key of a model provider not received', { error: messageOf(error) });
      throw error;
    }
  }
}

/** It refuses one model, and no other one. */
function isOfModel({ reason }: Refusal): boolean {
  return reason === 'model_unpriced' || reason === 'model_not_allowed';
}
