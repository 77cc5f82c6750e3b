import { hasCode, type HostLog, pause, retrying } from '#lib/agent-host';
import { type BackoffPolicy, fullJitter } from '#lib/kernel';
import type { Admission, ModelRequest } from '#lib/model-proxy';
import type { DroverApi } from '../api/drover-api.js';
import type { ModelHold } from '../api/types.js';
import { isModelName } from '../execution/usage-line.js';

/** The time for which a request waits until other requests return their tokens. */
const PATIENCE_MS = 120_000;
/** Usage reaches the server about a second after its request. */
const WAIT: BackoffPolicy = { baseMs: 500, capMs: 5_000 };

export interface RequestHoldsParts {
  api: Pick<DroverApi, 'holdRequest' | 'releaseRequest'>;
  runId: string;
  log: HostLog;
  /** The pause between two questions for the tokens of a request. */
  wait?: BackoffPolicy;
}

/** Servers of the version before tell neither reason nor fallbacks. */
type Answer = Pick<ModelHold, 'outcome' | 'message' | 'model'> &
  Partial<Pick<ModelHold, 'reason' | 'fallbacks'>>;

/** Asks the server for the tokens of each request of one run before it is sent. */
export class RequestHolds {
  constructor(private readonly parts: RequestHoldsParts) {}

  /**
   * Holds the upper bound of a request: the bytes of its input, or else the provider's count of it,
   * and its own limit of output. It waits while other requests hold the tokens, and while the server
   * is out of reach.
   */
  async ask(request: ModelRequest, signal: AbortSignal): Promise<Admission> {
    const { wait = WAIT } = this.parts;
    const until = performance.now() + PATIENCE_MS;
    let input = request.inputBound;
    let isCounted = request.countInput === undefined;
    for (let waits = 0; ; waits += 1) {
      const tokens = input + (request.outputBound ?? 0);
      const answer = await this.hold(request, { tokens, final: false }, signal);
      if (answer.outcome === 'granted' || answer.outcome === 'unpriced') return toAdmission(answer);
      if (!isCounted) {
        isCounted = true;
        input = Math.min(input, (await request.countInput?.()) ?? input);
        continue;
      }
      const isOver = answer.outcome === 'refused' || performance.now() >= until;
      if (isOver) return this.insist(request, tokens, signal);
      await pause(fullJitter(wait, waits, Math.random()), signal);
      signal.throwIfAborted();
    }
  }

  /** Ends the hold of a request without usage. The end of the run does it as well. */
  release(requestId: string): void {
    const { api, runId, log } = this.parts;
    const giveUp = AbortSignal.timeout(PATIENCE_MS);
    void retrying('release of a request', () => api.releaseRequest(runId, requestId), {
      log,
      signal: giveUp,
    }).catch(() => undefined);
  }

  /** Asks for the last time, so that the policy of the budget counts. */
  private async insist(
    request: ModelRequest,
    tokens: number,
    signal: AbortSignal,
  ): Promise<Admission> {
    return toAdmission(await this.hold(request, { tokens, final: true }, signal));
  }

  private async hold(
    { id, model }: ModelRequest,
    wish: { tokens: number; final: boolean },
    signal: AbortSignal,
  ): Promise<Answer> {
    const { api, runId, log } = this.parts;
    const named = isModelName(model) ? { model } : {};
    try {
      return await retrying(
        'hold of a request',
        () => api.holdRequest(runId, id, { ...wish, ...named }),
        {
          log,
          signal,
        },
      );
    } catch (error) {
      // A server of the version before holds nothing.
      if (hasCode(error, 'route_not_found'))
        return { outcome: 'granted', message: null, model: null };
      throw error;
    }
  }
}

/** The server can give the request another model. */
function toAdmission({ outcome, reason, message, model, fallbacks = [] }: Answer): Admission {
  if (outcome === 'granted') {
    return {
      kind: 'admitted',
      ...(model !== null && { model }),
      ...(fallbacks.length > 0 && { fallbacks }),
    };
  }
  const ofOutcome = outcome === 'unpriced' ? 'model_unpriced' : 'budget_exceeded';
  return {
    kind: 'refused',
    reason: reason ?? ofOutcome,
    message: message ?? 'No budget is left.',
  };
}
