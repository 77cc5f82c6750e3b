import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { components, DroverClient } from '#lib/api-client';
import { type AgentKind, findKind, findKinds, installKind, kindOf, KINDS } from '#lib/agent-kinds';
import type { CleanupScope } from '#lib/local-servers';
import { Child } from '../../tools/shared/children.js';
import { workerSpec } from '../../tools/demo/fleet.js';
import { invitePeople, type People } from '../../tools/demo/people.js';
import { setStage, type Stage } from '../../tools/demo/stage.js';
import { readLog } from '../../tools/demo/timeline.js';
import { arrangeIsolation } from '../../tools/start/isolation.js';
import { AGENTS } from './folder.js';
import { type ModelServer, type Script, startModelServer } from '../support/model-server/index.js';
import { waitFor } from '../support/wait-for.js';

export type Task = components['schemas']['Task'];
type NewTask = components['schemas']['CreateTask'];

const CAPABILITY = 'agent';
const KEPT = 'State of the agent kept';
/** The time for one wait of a trial, in milliseconds. */
const PATIENCE_MS = 240_000;

/** A server, people and workers that run agents in sandboxes. */
export class Ground {
  private readonly workers = new Map<string, Child>();
  private started = 0;
  /** The number of states of conversations that the workers have kept at the server. */
  keptStates = 0;

  private constructor(
    readonly scope: CleanupScope,
    readonly stage: Stage,
    readonly people: People,
    private readonly isolation: Record<string, string>,
  ) {}

  static async prepare(scope: CleanupScope, note: (text: string) => void): Promise<Ground> {
    const stage = await setStage(scope, note);
    const people = await invitePeople(stage);
    const { env } = await arrangeIsolation(stage.folder, note);
    return new Ground(scope, stage, people, env);
  }

  get member(): DroverClient {
    return this.people.member;
  }

  get administrator(): DroverClient {
    return this.people.administrator;
  }

  /** Starts workers until there are so many. */
  async needWorkers(count: number): Promise<void> {
    while (this.workers.size < count) await this.startWorker();
  }

  /** Kills the worker of a task by SIGKILL. */
  async killWorkerOf(task: Task): Promise<void> {
    const worker = this.workers.get(task.agentId ?? '');
    if (worker === undefined) throw new Error('No worker has the task.');
    this.workers.delete(task.agentId ?? '');
    process.kill(worker.pid, 'SIGKILL');
    await worker.exited;
  }

  /** Answers the agents of a kind by a script from now on. */
  async answer(kind: TriedKind, script: Script): Promise<ModelServer> {
    const models = await startModelServer(script);
    const params = { path: { provider: kind.provider } };
    const body = { key: 'sk-stand-in-0123456789abcdef', baseUrl: models.url };
    await this.administrator.put('/api/v1/model-providers/{provider}', { params, body });
    return models;
  }

  async submit(kind: TriedKind, values: Partial<NewTask> = {}): Promise<string> {
    const { id } = await this.member.post('/api/v1/agent-tasks', {
      body: {
        title: `Try ${kind.name}`,
        taskType: 'agent',
        requiredCapabilities: [CAPABILITY],
        agent: { kind: kind.name, model: MODEL },
        instructions: 'Do as the model says.',
        maxRetries: 0,
        retryBackoffSeconds: 0,
        timeoutSeconds: 600,
        ...values,
      },
    });
    return id;
  }

  async task(id: string): Promise<Task> {
    return this.member.get('/api/v1/agent-tasks/{id}', { params: { path: { id } } });
  }

  until<T>(what: string, condition: Parameters<typeof waitFor<T>>[1]): Promise<T> {
    return waitFor(what, condition, PATIENCE_MS);
  }

  /** Resolves with the task once it has one of the statuses. */
  untilStatus(id: string, ...statuses: Task['status'][]): Promise<Task> {
    let state = '';
    const waiting = this.until(`the status ${statuses.join(' or ')}`, async () => {
      const task = await this.task(id);
      state = [task.status, task.pauseReason, task.lastError].filter(Boolean).join(', ');
      return statuses.includes(task.status) && task;
    });
    return waiting.catch((error: unknown) => {
      throw new Error(`${(error as Error).message}: it is ${state}`);
    });
  }

  /** Resolves when nothing of the session is left on this machine. */
  async untilSessionEnds(runId: string): Promise<void> {
    const folders = join(this.stage.folder, '*', 'runs', runId);
    await this.until('the end of the session', () => globSync(folders).length === 0);
  }

  async logOf(id: string, event: string): Promise<string[]> {
    const log = await readLog(this.member, id);
    return log.flatMap((entry) => (entry.event === event ? (entry.message ?? '') : []));
  }

  async fileOf(taskId: string, name: string): Promise<string | undefined> {
    const params = { path: { id: taskId } };
    const { items } = await this.member.get('/api/v1/agent-tasks/{id}/artifacts', { params });
    const artifact = items.find((item) => item.name === name);
    return artifact && (await this.member.download(artifact)).text();
  }

  async usedTokens(taskId: string): Promise<number> {
    const query = { groupBy: 'day' as const, taskId };
    const { items } = await this.administrator.get('/api/v1/usage', { params: { query } });
    return Number(items[0]?.totalTokens ?? 0);
  }

  /** Removes what a trial can leave for the next one. */
  async clear(taskId: string | undefined): Promise<void> {
    const { items } = await this.administrator.get('/api/v1/provider-limits', {});
    for (const { id } of items) {
      const params = { path: { id } };
      await this.administrator.delete('/api/v1/provider-limits/{id}', { params });
    }
    if (taskId === undefined) return;
    const { status } = await this.task(taskId);
    if (['COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED'].includes(status)) return;
    const params = { path: { id: taskId } };
    await this.member.post('/api/v1/agent-tasks/{id}/cancel', { params, body: {} });
  }

  private async startWorker(): Promise<void> {
    this.started += 1;
    const plan = { name: `w${this.started}`, capabilities: [CAPABILITY], concurrency: 1 };
    const spec = workerSpec(this.stage, this.people, plan);
    const env = {
      ...spec.env,
      ...this.isolation,
      DROVER_AGENTS: AGENTS,
      // A kept state is such a line.
      DROVER_WORKER_LOG_LEVEL: 'debug',
    };
    const onLine = (line: string): void => void (this.keptStates += line.includes(KEPT) ? 1 : 0);
    const worker = await Child.start(this.stage.supervisor, { ...spec, env, onLine });
    this.scope.add(async () => void (await worker.stop()));
    const { agentId } = await worker.ready(({ message }) => message === 'Registered');
    this.workers.set(String(agentId), worker);
  }
}

/** The stand-in answers for any model. This one has a price. */
export const MODEL = 'claude-haiku-4-5';

/** A kind with a program and a provider of its own. */
export type TriedKind = AgentKind & { provider: NonNullable<AgentKind['provider']> };

/**
 * Returns the kinds to try: the named one, or all that this machine has, and Codex. A missing one is
 * installed.
 */
export async function kindsToTry(
  name: string | undefined,
  note: (text: string) => void,
): Promise<TriedKind[]> {
  const where = { searchPath: process.env['PATH'] ?? '', folders: AGENTS.split(':') };
  const installed = (await findKinds(where)).filter((found) => found.installed);
  const names = name === undefined ? [...installed.map((found) => found.name), 'codex'] : [name];
  const tried = KINDS.filter((kind) => names.includes(kind.name)).filter(
    (kind): kind is TriedKind => kind.program !== null && kind.provider !== undefined,
  );
  for (const kind of tried) {
    if ((await findKind(kind, where)).installed) continue;
    note(`installing ${kind.title} (${kind.program?.npm.sizeMb} MiB)`);
    await installKind(kind, where.folders[0] ?? '');
  }
  return tried;
}

/** Whether there is a kind of this name to try. */
export function canTry(name: string): boolean {
  const kind = kindOf(name);
  return kind?.program != null && kind.provider !== undefined;
}
