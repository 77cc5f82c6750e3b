import { bearer } from './auth-headers.js';
import { toApiError } from './errors.js';
import type { HttpClient, HttpRequest } from './http-client.js';
import type { TokenSource } from './token-source.js';
import type {
  ClaimAnswer,
  ClaimedTask,
  FinalReport,
  Heartbeat,
  JsonObject,
  LiveTask,
  LogEntry,
  ProgressReport,
  Registration,
  RunSignal,
} from './types.js';

const CALL_TIMEOUT_MS = 10_000;
/** What a long poll may take beyond the time that it was asked to wait. */
const POLL_SLACK_MS = 10_000;

export interface Signals {
  drain: boolean;
  runs: RunSignal[];
}

/**
 * The server, as the agent of this worker sees it. Every method throws NetworkError or ApiError and
 * leaves the retrying to its caller, except that a refused token is renewed once.
 */
export class DroverApi {
  constructor(
    private readonly http: HttpClient,
    private readonly tokens: TokenSource,
    readonly agentId: string,
  ) {}

  register(registration: Registration): Promise<unknown> {
    return this.call('PUT', this.agentPath(), registration);
  }

  beat(heartbeat: Heartbeat): Promise<unknown> {
    return this.call('POST', this.agentPath('heartbeat'), heartbeat);
  }

  async claim(maxTasks: number, waitMs: number, signal: AbortSignal): Promise<ClaimAnswer> {
    const body = { maxTasks, waitMs };
    const answer = await this.call('POST', this.agentPath('claim'), body, {
      timeoutMs: waitMs + POLL_SLACK_MS,
      signal,
    });
    const { tasks = [], reason } = answer as Partial<ClaimAnswer>;
    return { tasks, reason };
  }

  async signals(runIds: string[], waitMs: number, signal: AbortSignal): Promise<Signals> {
    const body = { runIds, waitMs };
    const answer = await this.call('POST', this.agentPath('signals'), body, {
      timeoutMs: waitMs + POLL_SLACK_MS,
      signal,
    });
    return { drain: answer['drain'] === true, runs: (answer['runs'] ?? []) as RunSignal[] };
  }

  /** What the server thinks this agent works on. */
  async liveTasks(): Promise<LiveTask[]> {
    const live: LiveTask[] = [];
    let cursor: unknown;
    do {
      const next = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const answer = await this.call('GET', this.agentPath(`tasks?live=true${next}`));
      live.push(...((answer['items'] ?? []) as JsonObject[]).flatMap(toLiveTask));
      cursor = answer['nextCursor'];
    } while (typeof cursor === 'string');
    return live;
  }

  deregister(reason: string): Promise<unknown> {
    return this.call('POST', this.agentPath('deregister'), { reason });
  }

  start(runId: string): Promise<unknown> {
    return this.call('POST', `/runs/${runId}/start`, {});
  }

  progress(runId: string, report: ProgressReport): Promise<unknown> {
    return this.call('PATCH', `/runs/${runId}/progress`, report);
  }

  logs(runId: string, entries: LogEntry[]): Promise<unknown> {
    return this.call('POST', `/runs/${runId}/logs`, { entries });
  }

  /**
   * Ends the run.
   *
   * @param claimNext how many tasks to claim in the same breath; only `complete` can
   */
  async end(runId: string, report: FinalReport, claimNext = 0): Promise<ClaimedTask[]> {
    const { kind, ...body } = report;
    const next = kind === 'complete' && claimNext > 0 ? { claimNext: { maxTasks: claimNext } } : {};
    const answer = await this.call('POST', `/runs/${runId}/${kind}`, { ...body, ...next });
    return (answer['claimed'] ?? []) as ClaimedTask[];
  }

  private agentPath(rest = ''): string {
    return `/agents/${this.agentId}${rest === '' ? '' : `/${rest}`}`;
  }

  private async call(
    method: HttpRequest['method'],
    path: string,
    body?: unknown,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<JsonObject> {
    const token = await this.tokens.current();
    const request = { method, path, body, timeoutMs: CALL_TIMEOUT_MS, ...options };
    let response = await this.http.send({ ...request, headers: bearer(token) });
    if (response.status === 401 && (await this.tokens.renew(token))) {
      const renewed = await this.tokens.current();
      response = await this.http.send({ ...request, headers: bearer(renewed) });
    }
    if (response.status < 200 || response.status > 299) {
      throw toApiError(response.status, response.body, response.retryAfter);
    }
    return (response.body ?? {}) as JsonObject;
  }
}

function toLiveTask(item: JsonObject): LiveTask[] {
  const { id, runId, status } = item;
  if (typeof id !== 'string' || typeof runId !== 'string') return [];
  return [{ taskId: id, runId, started: status !== 'ASSIGNED' }];
}
