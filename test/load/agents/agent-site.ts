import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bearer, streamLogs } from '#lib/api-client';
import { type AgentKind, installKind, kindOf } from '#lib/agent-kinds';
import { newId, projectRoot } from '#lib/kernel';
import { findBubblewrap } from '#lib/local-servers';
import { binFolder } from '../../../libs/agents/agent-kinds/programs/install-kind.js';
import { AgentRun } from '../../../libs/agents/agent-kinds/testing/agent-run.js';
import { type ModelServer, startModelServer, type Turn } from '../../support/model-server/index.js';
import { Client } from '../harness/client.js';
import { Starts } from '../harness/paced.js';
import type { Program } from '../harness/program.js';
import type { Rig } from '../harness/rig.js';

/** The folder in which tests install agents, too. */
const AGENTS = join(projectRoot, '.cache', 'agents');
const MARK = /bench-\d+/g;
const ENDED = ['COMPLETED', 'FAILED', 'ABORTED', 'PAUSED'];
const LOOK_MS = 20;

/** The turns of a conversation. They are made anew for each request. */
type Turns = () => Turn[];

/**
 * A server, a worker in a sandbox, and Codex as it is installed. A stand-in in this process answers
 * for its model.
 */
export class AgentSite {
  /** The times of the first request to the model for each mark, by `performance.now()`. */
  private readonly asked = new Starts<string>();
  private readonly seen = new Set<string>();
  private readonly turns = new Map<string, Turns>();
  private readonly models: Promise<ModelServer>;
  private marks = 0;
  private kind!: AgentKind;
  /** The command that npm installs, with the Node of this process. */
  private command!: string[];
  private client!: Client;
  private token!: string;
  private url!: string;
  /** The host of the sessions. */
  worker!: Program;

  private constructor(private readonly folder: string) {
    this.models = startModelServer(({ prompt, later }) => {
      const mark = `${prompt} ${later}`.match(MARK)?.at(-1) ?? '';
      if (!this.seen.has(mark)) this.asked.note(mark);
      this.seen.add(mark);
      return this.turns.get(mark)?.() ?? [];
    });
  }

  static async open(rig: Rig, folder: string, concurrency: number): Promise<AgentSite> {
    const site = new AgentSite(folder);
    await site.install();
    await site.start(rig, concurrency);
    return site;
  }

  /** A mark for the words of a task. The stand-in answers their conversation with these turns. */
  newMark(turns: Turns = () => []): string {
    this.marks += 1;
    const mark = `bench-${this.marks}`;
    this.turns.set(mark, turns);
    return mark;
  }

  /** @returns the task, and the milliseconds to the first request to the model */
  async startSession(mark: string): Promise<{ id: string; ms: number }> {
    const started = performance.now();
    const { id } = await this.post<{ id: string }>('/agent-tasks', {
      title: 'A benchmark',
      taskType: 'benchmark',
      agent: { kind: this.kind.name },
      instructions: mark,
      maxRetries: 0,
    });
    return { id, ms: (await this.asked.of(mark)) - started };
  }

  /** The same for a session that goes on in the conversation of a finished task. */
  async resumeSession(finished: string, mark: string): Promise<{ id: string; ms: number }> {
    const started = performance.now();
    const path = `/agent-tasks/${finished}/continue`;
    const { id } = await this.post<{ id: string }>(path, { text: mark });
    return { id, ms: (await this.asked.of(mark)) - started };
  }

  /** The milliseconds of the program alone from its start to its first request to the model. */
  async startBare(mark: string): Promise<number> {
    const id = newId();
    const workDir = join(this.folder, 'bare', id, 'work');
    await mkdir(workDir, { recursive: true });
    const started = performance.now();
    const run = new AgentRun(this.kind, {
      prompt: mark,
      permissionMode: 'auto',
      settings: {},
      program: this.command,
      workDir,
      stateDir: join(this.folder, 'bare', id, 'state'),
      sessionId: id,
      modelProxy: { url: (await this.models).url, token: 'token' },
      mcpServers: [],
      isRoot: true,
    });
    const asked = await this.asked.of(mark);
    await run.end;
    return asked - started;
  }

  /** Resolves when the task has this status. */
  async until(id: string, wanted: string): Promise<void> {
    const path = `/api/v1/agent-tasks/${id}`;
    for (;;) {
      const { status } = await this.client.get<{ status: string }>(path, this.token);
      if (status === wanted) return;
      if (ENDED.includes(status)) throw new Error(`The task ${id} is ${status}`);
      await delay(LOOK_MS);
    }
  }

  /** Follows the log of a task as the dashboard does. */
  log(id: string) {
    return streamLogs({ baseUrl: this.url, credentials: bearer(this.token) }, id, {
      level: 'DEBUG',
    });
  }

  cancel(id: string): Promise<unknown> {
    return this.post(`/agent-tasks/${id}/cancel`, {});
  }

  async close(): Promise<void> {
    await this.worker.stop();
    await this.client.close();
    await (await this.models).close();
  }

  private async install(): Promise<void> {
    const kind = kindOf('codex');
    if (kind === undefined) throw new Error('There is no kind codex');
    await installKind(kind, AGENTS);
    const script = await realpath(join(binFolder(AGENTS, kind), kind.name));
    this.kind = kind;
    this.command = [process.execPath, script];
  }

  private async start(rig: Rig, concurrency: number): Promise<void> {
    const site = await rig.newSite();
    const workspaceId = await site.newWorkspace();
    this.token = (await site.newMember(workspaceId)).token;
    const server = await rig.startServer(site, { ARTIFACTS_DIR: join(this.folder, 'artifacts') });
    this.url = server.url;
    this.client = new Client(this.url, 4);
    const way = { key: 'sk-stand-in', baseUrl: (await this.models).url };
    await this.client.put('/api/v1/model-providers/openai', this.token, way);
    const { file, env } = await findBubblewrap();
    const settings = {
      DROVER_API_URL: this.url,
      DROVER_API_KEY: this.token,
      DROVER_WORKSPACE_ID: workspaceId,
      DROVER_WORKER_CONCURRENCY: String(concurrency),
      DROVER_WORKER_DATA_DIR: join(this.folder, 'worker'),
      DROVER_AGENTS: AGENTS,
      // An agent that repeats itself is no mistake here.
      DROVER_WORKER_CIRCLES: 'off',
      DROVER_SANDBOX: 'required',
      DROVER_SANDBOX_PROGRAM: file,
      DROVER_SANDBOX_LIBRARIES: env['LD_LIBRARY_PATH'] ?? '',
    };
    this.worker = await rig.startProgram('apps/worker/main.js', settings, /Registered/);
  }

  private post<T>(path: string, body: object): Promise<T> {
    return this.client.post(`/api/v1${path}`, this.token, body);
  }
}
