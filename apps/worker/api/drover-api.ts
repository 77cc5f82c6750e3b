import { allowWait, hasCode } from '#lib/agent-host';
import { ConnectionProblem, type DroverClient, itemsOf } from '#lib/api-client';
import type {
  FoundPullRequest,
  HostChange,
  RunRepositoryAnswer,
  StepReport,
  CheckWork,
  Finding,
  RenewedStep,
  StepWork,
} from '../code/types.js';
import type { HostCredential } from '#lib/kernel';
import type {
  AttachedFile,
  Agent,
  ClaimAnswer,
  ClaimedTask,
  FinalReport,
  Heard,
  Heartbeat,
  LiveTask,
  LogEntry,
  ModelAccess,
  ModelHold,
  ProgressReport,
  Question,
  Registration,
  FirstWords,
  RunPrompt,
  Signals,
  UsageAnswer,
  UsageReport,
} from './types.js';

/** The time limit for one file. */
const UPLOAD_MS = 120_000;

/** A file of a run to be kept. */
export interface ArtifactFile {
  name: string;
  content: Uint8Array<ArrayBuffer>;
  /** A media type. */
  type: string;
}

/**
 * The server's endpoints for this worker's agent. Every method fails with the errors of
 * DroverClient.
 */
export class DroverApi {
  constructor(
    private readonly server: DroverClient,
    readonly agentId: string,
    /** The agent's workspace. It is known after the registration. */
    readonly workspaceId?: string,
  ) {}

  /** The boot id of the worker that registered last as this agent. */
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
    const answer: Partial<ClaimAnswer> = await allowWait(this.server, waitMs).post(
      '/api/v1/agents/{id}/claim',
      init,
    );
    const { tasks = [], reason } = answer;
    return { tasks, reason };
  }

  async signals(
    { heard, ...rest }: { runIds: string[]; heard: Heard[]; waitMs: number },
    signal: AbortSignal,
  ): Promise<Signals> {
    // A server of the version before refuses the field, and has no runs that hear messages.
    const body = heard.length === 0 ? rest : { ...rest, heard };
    const init = { ...this.agent(), body, signal };
    const answer: Partial<Signals> = await allowWait(this.server, rest.waitMs).post(
      '/api/v1/agents/{id}/signals',
      init,
    );
    const { drain = false, runs = [], messages = [] } = answer;
    return { drain, runs, messages };
  }

  /** The tasks of this agent's live runs, according to the server. */
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

  /** Asks people a question for whose answer the run waits. */
  ask(runId: string, question: Question): Promise<{ id: string }> {
    const init = { ...run(runId), body: { ...question, runWaits: true } };
    return this.server.post('/api/v1/runs/{runId}/questions', init);
  }

  /** Cancels the open question for whose answer the run waits. */
  cancelQuestion(runId: string): Promise<unknown> {
    return this.server.post('/api/v1/runs/{runId}/questions/cancel', run(runId));
  }

  /** The program of the run has received the messages at these positions. */
  delivered(runId: string, positions: number[]): Promise<unknown> {
    const init = { ...run(runId), body: { positions } };
    return this.server.post('/api/v1/runs/{runId}/messages/delivered', init);
  }

  /** Makes the prompt of a live run, and keeps it with the run. */
  async createPrompt(runId: string, start: RunPrompt): Promise<FirstWords> {
    const send = (body: RunPrompt): Promise<FirstWords> =>
      this.server.post('/api/v1/runs/{runId}/prompt', { ...run(runId), body });
    try {
      return await send(start);
    } catch (error) {
      const { messages, ...upTo } = start.upTo ?? {};
      // A server of the version before knows tool calls only.
      if (messages === undefined || !hasCode(error, 'validation_failed')) throw error;
      return send({ ...start, upTo: upTo as RunPrompt['upTo'] });
    }
  }

  /** The address and key of a provider of models for a live run. */
  modelAccess(runId: string, provider: ModelAccess['provider']): Promise<ModelAccess> {
    const init = { ...run(runId), body: { provider } };
    return this.server.post('/api/v1/runs/{runId}/model-access', init);
  }

  /** The headers that the proxy of a live run's session adds, with their values. */
  async hostCredentials(runId: string): Promise<HostCredential[]> {
    try {
      const path = '/api/v1/runs/{runId}/host-credentials';
      return (await this.server.post(path, run(runId))).items;
    } catch (error) {
      // A server of the version before has no credentials.
      if (hasCode(error, 'route_not_found')) return [];
      throw error;
    }
  }

  /**
   * Holds the upper bound of a request to a model before it is sent.
   *
   * @param wish `final`: a refusal applies the policy of the budget to the task
   */
  holdRequest(
    runId: string,
    requestId: string,
    wish: { tokens: number; model?: string; final: boolean },
  ): Promise<ModelHold> {
    const init = { params: { path: { runId, requestId } }, body: wish };
    return this.server.put('/api/v1/runs/{runId}/model-holds/{requestId}', init);
  }

  /** Releases the hold of a request that used nothing. */
  releaseRequest(runId: string, requestId: string): Promise<unknown> {
    const init = { params: { path: { runId, requestId } } };
    return this.server.delete('/api/v1/runs/{runId}/model-holds/{requestId}', init);
  }

  /** The repository of a live run with its credentials, and its change. */
  runRepository(runId: string): Promise<RunRepositoryAnswer> {
    return this.server.post('/api/v1/runs/{runId}/repository', run(runId));
  }

  /**
   * The next step of a change, or check of a repository, for this host. Undefined: there was none in
   * this time.
   */
  async claimStep(
    waitSeconds: number,
    signal: AbortSignal,
  ): Promise<StepWork | CheckWork | undefined> {
    const path = '/api/v1/change-steps/claim';
    const patient = allowWait(this.server, waitSeconds * 1_000);
    const body = { waitSeconds, checks: true, forges: true };
    const work: object | undefined = await patient.post(path, { body, signal });
    return work && ('step' in work || 'check' in work) ? (work as StepWork | CheckWork) : undefined;
  }

  /** Extends the lease of a step. */
  renewStep(changeId: string, generation: number): Promise<RenewedStep> {
    const init = { params: { path: { changeId } }, body: { generation } };
    return this.server.post('/api/v1/change-steps/{changeId}/renew', init);
  }

  /** Records the commit that is about to be pushed to the target. */
  planLanding(changeId: string, generation: number, landingCommit: string): Promise<unknown> {
    const init = { params: { path: { changeId } }, body: { generation, landingCommit } };
    return this.server.post('/api/v1/change-steps/{changeId}/plan', init);
  }

  /** Records that none of the planned commits is on the target. */
  reportNotLanded(changeId: string, generation: number): Promise<unknown> {
    const init = { params: { path: { changeId } }, body: { generation } };
    return this.server.post('/api/v1/change-steps/{changeId}/not-landed', init);
  }

  /** Records a pull request, and what people said there. */
  reportPullRequest(changeId: string, found: FoundPullRequest): Promise<HostChange> {
    const init = { params: { path: { changeId } }, body: found };
    return this.server.post('/api/v1/change-steps/{changeId}/pull-request', init);
  }

  /** Extends the lease of a check of a repository. */
  renewCheck(id: string, generation: number): Promise<unknown> {
    const init = { params: { path: { id } }, body: { generation } };
    return this.server.post('/api/v1/repositories/{id}/check/renew', init);
  }

  /** Gives a check of a repository back. */
  releaseCheck(id: string, generation: number): Promise<unknown> {
    const init = { params: { path: { id } }, body: { generation } };
    return this.server.post('/api/v1/repositories/{id}/check/release', init);
  }

  /** Ends the check of a repository. */
  reportCheck(id: string, generation: number, findings: Finding[]): Promise<unknown> {
    const init = { params: { path: { id } }, body: { generation, findings } };
    return this.server.post('/api/v1/repositories/{id}/check/report', init);
  }

  /** Ends a step. */
  reportStep(changeId: string, report: StepReport): Promise<unknown> {
    const init = { params: { path: { changeId } }, body: report };
    return this.server.post('/api/v1/change-steps/{changeId}/report', init);
  }

  /** The server accepts files of a run that has ended minutes ago, too. */
  saveArtifact(runId: string, file: ArtifactFile, signal: AbortSignal): Promise<unknown> {
    const patient = this.server.with({ timeoutMs: UPLOAD_MS });
    return patient.saveArtifact(runId, { ...file, signal });
  }

  /** Keeps the state of a live run's coding agent. */
  saveAgentState(
    runId: string,
    content: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<void> {
    const patient = this.server.with({ timeoutMs: UPLOAD_MS });
    return patient.saveAgentState(runId, { content, signal });
  }

  /** The kept state of a live run's task, or of the task that it continues. Undefined: there is none. */
  async agentState(runId: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const patient = this.server.with({ timeoutMs: UPLOAD_MS });
    try {
      const downloadPath = `/api/v1/runs/${runId}/agent-state`;
      const answer = await patient.download({ downloadPath }, signal);
      return Buffer.from(await answer.arrayBuffer().catch(cutOff));
    } catch (error) {
      // A server of the version before keeps no states.
      if (hasCode(error, 'artifact_not_found', 'route_not_found')) return undefined;
      throw error;
    }
  }

  /**
   * The files that people attached under an id.
   *
   * @param maxBytes the maximum of all together
   */
  async attachments(
    id: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<AttachedFile[] | 'too large'> {
    const patient = this.server.with({ timeoutMs: UPLOAD_MS });
    const { items } = await patient.get('/api/v1/attachments/{attachmentsId}', {
      params: { path: { attachmentsId: id } },
      signal,
    });
    const bytes = items.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (bytes > maxBytes) return 'too large';
    const files: AttachedFile[] = [];
    for (const item of items) {
      const answer = await patient.download(item, signal);
      const content = Buffer.from(await answer.arrayBuffer().catch(cutOff));
      files.push({ name: item.name, mediaType: item.mediaType, content });
    }
    return files;
  }

  /** The server accepts usage of a finished run, too. */
  async usage(runId: string, reports: readonly UsageReport[]): Promise<UsageAnswer> {
    const send = (sent: readonly UsageReport[]): Promise<UsageAnswer> => {
      const body = { reports: [...sent] };
      return this.server.post('/api/v1/runs/{runId}/usage', { ...run(runId), body });
    };
    try {
      return await send(reports);
    } catch (error) {
      // A server of the version before refuses the details of single requests. Their tokens count.
      if (hasCode(error, 'validation_failed') && reports.some(hasDetails))
        return send(reports.map(withoutDetails));
      throw error;
    }
  }

  /**
   * Ends the run.
   *
   * @param claimNext the number of tasks to claim with the same request; only `complete` can claim
   */
  async end(runId: string, report: FinalReport, claimNext = 0): Promise<ClaimedTask[]> {
    const body = bodyOf(report);
    const isClaiming = report.kind === 'complete' && claimNext > 0;
    const claiming = isClaiming ? { ...body, claimNext: { maxTasks: claimNext } } : body;
    // The type cannot express that each of several paths has its own body.
    const path = `/api/v1/runs/{runId}/${report.kind}` as '/api/v1/runs/{runId}/complete';
    const { claimed } = await this.server.post(path, { ...run(runId), body: claiming });
    return claimed ?? [];
  }

  private agent() {
    return { params: { path: { id: this.agentId } } };
  }
}

/** @throws ConnectionProblem */
function cutOff(error: unknown): never {
  throw new ConnectionProblem('The connection broke within an answer', { cause: error });
}

function run(runId: string) {
  return { params: { path: { runId } } };
}

/** The body of a report. The path has its kind. */
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

const DETAILS = ['requestedModel', 'reasoningTokens', 'timeToFirstTokenMs', 'estimated'] as const;

function hasDetails(report: UsageReport): boolean {
  return DETAILS.some((field) => report[field] !== undefined);
}

function withoutDetails(report: UsageReport): UsageReport {
  const rest = { ...report };
  for (const field of DETAILS) delete rest[field];
  return rest;
}
