import { patient } from '#lib/agent-host';
import { type DroverClient, itemsOf } from '#lib/api-client';
import type {
  Agent,
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

/** The server, as the agent of this worker sees it. Every method fails as those of DroverClient. */
export class DroverApi {
  constructor(
    private readonly server: DroverClient,
    readonly agentId: string,
    /** The agent's workspace, once the agent is registered. */
    readonly workspaceId?: string,
  ) {}

  /** The life of the worker that registered last as this agent. */
  async bootId(): Promise<unknown> {
    const agent = await this.server.get('/api/v1/agents/{id}', this.agent());
    return agent.bootId;
  }

  register(registration: Registration): Promise<Agent> {
    return this.server.put('/api/v1/agents/{id}', { ...this.agent(), body: registration });
  }

  heartbeat(heartbeat: Heartbeat): Promise<unknown> {
    const path = '/api/v1/agents/{id}/heartbeat';
    return this.server.post(path, { ...this.agent(), body: heartbeat });
  }

  async claim(maxTasks: number, waitMs: number, signal: AbortSignal): Promise<ClaimAnswer> {
    const init = { ...this.agent(), body: { maxTasks, waitMs }, signal };
    const answer: Partial<ClaimAnswer> = await patient(this.server, waitMs).post(
      '/api/v1/agents/{id}/claim',
      init,
    );
    const { tasks = [], reason } = answer;
    return { tasks, reason };
  }

  async signals(body: { runIds: string[]; waitMs: number }, signal: AbortSignal): Promise<Signals> {
    const init = { ...this.agent(), body, signal };
    const answer: Partial<Signals> = await patient(this.server, body.waitMs).post(
      '/api/v1/agents/{id}/signals',
      init,
    );
    const { drain = false, runs = [] } = answer;
    return { drain, runs };
  }

  /** The tasks that this agent works on, by the server's record. */
  async liveTasks(): Promise<LiveTask[]> {
    const path = { id: this.agentId };
    const tasks = itemsOf((from) =>
      this.server.get('/api/v1/agents/{id}/tasks', {
        params: { path, query: { live: 'true', ...from } },
      }),
    );
    const live: LiveTask[] = [];
    for await (const { id, runId, status } of tasks) {
      if (typeof runId === 'string')
        live.push({ taskId: id, runId, started: status !== 'ASSIGNED' });
    }
    return live;
  }

  deregister(reason: string): Promise<unknown> {
    const path = '/api/v1/agents/{id}/deregister';
    return this.server.post(path, { ...this.agent(), body: { reason } });
  }

  start(runId: string): Promise<unknown> {
    return this.server.post('/api/v1/runs/{runId}/start', { ...run(runId), body: {} });
  }

  progress(runId: string, report: ProgressReport): Promise<unknown> {
    return this.server.patch('/api/v1/runs/{runId}/progress', { ...run(runId), body: report });
  }

  logs(runId: string, entries: LogEntry[]): Promise<unknown> {
    return this.server.post('/api/v1/runs/{runId}/logs', { ...run(runId), body: { entries } });
  }

  /** Accepted of a run that has ended, too. */
  usage(runId: string, reports: readonly UsageReport[]): Promise<UsageAnswer> {
    const body = { reports: [...reports] };
    return this.server.post('/api/v1/runs/{runId}/usage', { ...run(runId), body });
  }

  /**
   * Ends the run.
   *
   * @param claimNext how many tasks to claim in the same breath; only `complete` can
   */
  async end(runId: string, report: FinalReport, claimNext = 0): Promise<ClaimedTask[]> {
    const body = bodyOf(report);
    const isClaiming = report.kind === 'complete' && claimNext > 0;
    const claiming = isClaiming ? { ...body, claimNext: { maxTasks: claimNext } } : body;
    // One of several paths takes one of several bodies, which its type cannot say.
    const path = `/api/v1/runs/{runId}/${report.kind}` as '/api/v1/runs/{runId}/complete';
    const { claimed } = await this.server.post(path, { ...run(runId), body: claiming });
    return claimed ?? [];
  }

  private agent() {
    return { params: { path: { id: this.agentId } } };
  }
}

function run(runId: string) {
  return { params: { path: { runId } } };
}

/** What a report says beside its kind, which is in the path. */
function bodyOf(report: FinalReport): object {
  switch (report.kind) {
    case 'provider-limits':
      return { ...report.limit, checkpointData: report.checkpointData };
    case 'questions':
      return { ...report.question, checkpointData: report.checkpointData };
    default:
      return withoutKind(report);
  }
}

function withoutKind({ kind: _, ...body }: FinalReport): object {
  return body;
}
