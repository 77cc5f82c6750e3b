import type { JsonObject, ServerClient } from '#lib/agent-host';
import type {
  ClaimAnswer,
  ClaimedTask,
  FinalReport,
  Heartbeat,
  LiveTask,
  LogEntry,
  ProgressReport,
  Registration,
  Signals,
  UsageAnswer,
  UsageReport,
} from './types.js';

/** The server, as the agent of this worker sees it. Every method fails as those of ServerClient. */
export class DroverApi {
  constructor(
    private readonly server: ServerClient,
    readonly agentId: string,
  ) {}

  /** The life of the worker that registered last as this agent. */
  async bootId(): Promise<unknown> {
    const agent = await this.server.call('GET', `/agents/${this.agentId}`);
    return agent['bootId'];
  }

  register(registration: Registration): Promise<unknown> {
    return this.server.call('PUT', `/agents/${this.agentId}`, registration);
  }

  heartbeat(heartbeat: Heartbeat): Promise<unknown> {
    return this.server.call('POST', this.agentPath('heartbeat'), heartbeat);
  }

  async claim(maxTasks: number, waitMs: number, signal: AbortSignal): Promise<ClaimAnswer> {
    const body = { maxTasks, waitMs };
    const path = this.agentPath('claim');
    const answer = await this.server.poll<Partial<ClaimAnswer>>(path, body, signal);
    const { tasks = [], reason } = answer;
    return { tasks, reason };
  }

  async signals(body: { runIds: string[]; waitMs: number }, signal: AbortSignal): Promise<Signals> {
    const path = this.agentPath('signals');
    const answer = await this.server.poll<Partial<Signals>>(path, body, signal);
    const { drain = false, runs = [] } = answer;
    return { drain, runs };
  }

  /** The tasks that this agent works on, by the server's record. */
  async liveTasks(): Promise<LiveTask[]> {
    const live: LiveTask[] = [];
    let cursor: unknown;
    do {
      const next = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
      const answer = await this.server.call('GET', this.agentPath(`tasks?live=true${next}`));
      live.push(...((answer['items'] ?? []) as JsonObject[]).flatMap(toLiveTask));
      cursor = answer['nextCursor'];
    } while (typeof cursor === 'string');
    return live;
  }

  deregister(reason: string): Promise<unknown> {
    return this.server.call('POST', this.agentPath('deregister'), { reason });
  }

  start(runId: string): Promise<unknown> {
    return this.server.call('POST', `/runs/${runId}/start`, {});
  }

  progress(runId: string, report: ProgressReport): Promise<unknown> {
    return this.server.call('PATCH', `/runs/${runId}/progress`, report);
  }

  logs(runId: string, entries: LogEntry[]): Promise<unknown> {
    return this.server.call('POST', `/runs/${runId}/logs`, { entries });
  }

  /** Accepted of a run that has ended, too. */
  usage(runId: string, reports: readonly UsageReport[]): Promise<UsageAnswer> {
    return this.server.call<UsageAnswer>('POST', `/runs/${runId}/usage`, { reports });
  }

  /**
   * Ends the run.
   *
   * @param claimNext how many tasks to claim in the same breath; only `complete` can
   */
  async end(runId: string, report: FinalReport, claimNext = 0): Promise<ClaimedTask[]> {
    const { kind } = report;
    const next = kind === 'complete' && claimNext > 0 ? { claimNext: { maxTasks: claimNext } } : {};
    const answer = await this.server.call('POST', `/runs/${runId}/${kind}`, {
      ...bodyOf(report),
      ...next,
    });
    return (answer['claimed'] ?? []) as ClaimedTask[];
  }

  private agentPath(rest: string): string {
    return `/agents/${this.agentId}/${rest}`;
  }
}

function toLiveTask(item: JsonObject): LiveTask[] {
  const { id, runId, status } = item;
  if (typeof id !== 'string' || typeof runId !== 'string') return [];
  return [{ taskId: id, runId, started: status !== 'ASSIGNED' }];
}

/** What a report says beside its kind, which is in the path. */
function bodyOf(report: FinalReport): object {
  if (report.kind === 'provider-limits') {
    return { ...report.limit, checkpointData: report.checkpointData };
  }
  if (report.kind === 'questions') {
    return { ...report.question, checkpointData: report.checkpointData };
  }
  return { ...report, kind: undefined };
}
