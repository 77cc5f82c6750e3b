import { readAtMost } from '#lib/kernel';
import type { GatewayTokens } from '../auth/gateway-tokens.js';

/** The server gave no answer, or one that is not 200. What somebody else says in its place is none. */
export class ServerError extends Error {
  constructor(
    message: string,
    /** Undefined when there was no answer. */
    readonly status?: number,
    readonly retryAfterMs = 0,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The server, or who stands before it, refuses the gateway's token: then the answer can have no proof. */
export class TokenRefused extends ServerError {
  constructor() {
    super('HTTP 401: the token was refused');
  }
}

export interface Stop {
  runId: string;
  reason: string;
  graceSeconds: number;
}

export interface BeatAnswer {
  acknowledgedAt: string;
  restarted: boolean;
  stop: Stop[];
}

export interface ReportResult {
  runId: string;
  applied: boolean;
  reason?: string;
}

export interface Signal extends Stop {
  /** `warn`: the session goes on. */
  action: 'stop' | 'pause' | 'warn';
}

export interface SignalAnswer {
  runs: Signal[];
}

const ANSWER_WITHIN_MS = 10_000;
const PROOF_HEADER = 'drover-server-proof';
/** Enough for every session to be stopped at once. */
const MAX_ANSWER_BYTES = 4_194_304;

/** The server's endpoints for gateways. Knows nothing of repeating. */
export class ServerClient {
  constructor(
    private readonly apiUrl: string,
    private readonly tokens: GatewayTokens,
  ) {}

  beat(body: object): Promise<BeatAnswer> {
    return this.post('/gateway/heartbeat', body) as Promise<BeatAnswer>;
  }

  report(body: object): Promise<{ results: ReportResult[] }> {
    return this.post('/gateway/sessions', body) as Promise<{ results: ReportResult[] }>;
  }

  /** Waits up to `waitMs` for something to be told. */
  signals(body: { waitMs: number }, signal: AbortSignal): Promise<SignalAnswer> {
    const within = body.waitMs + ANSWER_WITHIN_MS;
    return this.post('/gateway/signals', body, { within, signal }) as Promise<SignalAnswer>;
  }

  /** @throws ServerError */
  private async post(
    path: string,
    body: object,
    { within = ANSWER_WITHIN_MS, signal }: { within?: number; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const exchange = new AbortController();
    const abort = (): void => exchange.abort();
    const deadline = setTimeout(abort, within);
    // Not AbortSignal.any: on Node 20 each use of it stays referenced by its long-lived source.
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const passport = this.tokens.forServer();
    try {
      const response = await fetch(`${this.apiUrl}${path}`, {
        method: 'POST',
        redirect: 'error',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${passport.token}`,
        },
        body: JSON.stringify(body),
        signal: exchange.signal,
      });
      if (!this.tokens.proves(response.headers.get(PROOF_HEADER), passport)) {
        if (response.status === 401) throw new TokenRefused();
        throw new ServerError(`HTTP ${response.status} without proof that the server says so`);
      }
      return await readAnswer(response);
    } catch (error) {
      if (error instanceof ServerError) throw error;
      const reason = exchange.signal.aborted ? 'no answer in time' : reasonOf(error);
      throw new ServerError(reason, undefined, 0, { cause: error });
    } finally {
      clearTimeout(deadline);
      // Lets go of an answer that is not read to its end.
      abort();
      signal?.removeEventListener('abort', abort);
    }
  }
}

async function readAnswer(response: Response): Promise<unknown> {
  const text = response.body ? await readAtMost(response.body, MAX_ANSWER_BYTES) : '';
  if (text === undefined) throw new ServerError('the answer is too long');
  if (response.status === 200) return JSON.parse(text);
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  const retryAfterMs = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), 300) * 1000 : 0;
  throw new ServerError(`HTTP ${response.status}${codeIn(text)}`, response.status, retryAfterMs);
}

function codeIn(text: string): string {
  const code = /"code":"([\w]{1,60})"/.exec(text)?.[1];
  return code === undefined ? '' : ` ${code}`;
}

// `fetch failed` says nothing; its cause does.
function reasonOf(error: unknown): string {
  const source = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = source as { code?: unknown; message?: string };
  return typeof code === 'string' ? code : (message ?? String(source));
}
