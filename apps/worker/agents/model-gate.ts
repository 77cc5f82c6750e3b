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

/** The time for which the way to a provider is known. A changed key counts after it. */
const ACCESS_MS = 60_000;

export interface ModelGateParts {
  api: Pick<DroverApi, 'modelAccess'>;
  runId: string;
  report: Pick<JobReports, 'usage' | 'endEarly'>;
  log: Log;
}

/**
 * Decides about the requests of one run to models, and reports their usage. The server knows keys and
 * budgets.
 */
export class RunModelGate implements ModelGate {
  /** The limit of the provider that refused the run. */
  limit: ProviderLimit | undefined;
  private readonly known = new Map<Provider, { access: ModelAccess | undefined; until: number }>();

  constructor(private readonly parts: ModelGateParts) {}

  readonly access = async (provider: Provider): Promise<ModelAccess | undefined> => {
    const known = this.known.get(provider);
    if (known !== undefined && known.until > performance.now()) return known.access;
    const access = await this.ask(provider);
    this.known.set(provider, { access, until: performance.now() + ACCESS_MS });
    return access;
  };

  readonly admit = (request: ModelRequest): Promise<Admission> => {
    const { limit } = this;
    if (limit === undefined) return Promise.resolve({ kind: 'admitted' });
    const message = `The provider of ${request.model} has refused this run; it continues later.`;
    return Promise.resolve({ kind: 'refused', reason: 'provider_limited', message });
  };

  readonly ended = (usage: ModelUsage): void => {
    const { id, model, input, output, cacheRead, cacheWrite } = usage;
    if (input + output + cacheRead + cacheWrite === 0) return;
    this.parts.report.usage([
      {
        id,
        model,
        inputTokens: input,
        outputTokens: output,
        cacheReadTokens: cacheRead,
        cacheWriteTokens: cacheWrite,
        operation: usage.estimated ? 'model_request_estimated' : 'model_request',
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
