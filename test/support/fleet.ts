import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { loadConfig } from '#lib/config';
import { TokenService } from '../../libs/access/identity/tokens/token.service.js';
import { apiClient, type ApiClient } from './api-client.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { aMember, aSessionOf, aWorkspace } from './factories.js';
import { BuiltProcess } from './processes.js';
import { serverSettings } from './settings.js';
import { sharedServer } from './shared-server.js';
import { testValkey } from './valkey.js';

export interface FleetOptions {
  db?: TestDatabase;
  env?: Record<string, string>;
}

export interface LogEntry {
  level: string;
  event: string;
  message: string | null;
}

/** Built servers and workers as processes, with their own database. */
export class TestFleet {
  private readonly processes = new Set<BuiltProcess>();

  private constructor(
    readonly db: TestDatabase,
    readonly folder: string,
    readonly port: number,
    private readonly env: Record<string, string>,
    private readonly owner: { workspaceId: string; token: string },
  ) {}

  get workspaceId(): string {
    return this.owner.workspaceId;
  }

  /** A client that acts as an owner of the workspace. */
  get api(): ApiClient {
    return apiClient(`http://127.0.0.1:${this.port}`, this.credentials);
  }

  /** Headers of an owner of the workspace, valid at any server. */
  get credentials(): Record<string, string> {
    return { authorization: `Bearer ${this.owner.token}` };
  }

  /**
   * @param options the database, and deviations from the default environment of the servers
   */
  static async create(options: FleetOptions = {}): Promise<TestFleet> {
    const db = options.db ?? (await createTestDatabase());
    const folder = await mkdtemp(join(tmpdir(), 'drover-fleet-'));
    const port = await freePort();
    const env = {
      ...serverSettings(db, testValkey()),
      PORT: String(port),
      LOG_LEVEL: 'warn',
      CANCEL_GRACE_SECONDS: '2',
      COORDINATOR_LOCK_TTL_SECONDS: '3',
      ...options.env,
    };
    const workspaceId = await aWorkspace(db.owner);
    const userId = await aMember(db.owner, workspaceId);
    const sessionId = await aSessionOf(db.owner, userId);
    const { token } = new TokenService(loadConfig(env)).issueUserToken({
      userId,
      sessionId,
      workspaceId,
    });
    return new TestFleet(db, folder, port, env, { workspaceId, token });
  }

  /**
   * Workers of a new workspace, at the server that the test files of a Jest worker share, for files
   * that neither end the server nor look at other workspaces.
   */
  static async atSharedServer(): Promise<TestFleet> {
    const { db, url, tokens, newWorkspace, stop } = await sharedServer('all');
    const { id: workspaceId, userId } = await newWorkspace();
    const sessionId = await aSessionOf(db.owner, userId);
    const { token } = tokens.issueUserToken({ userId, sessionId, workspaceId });
    const folder = await mkdtemp(join(tmpdir(), 'drover-fleet-'));
    const port = Number(new URL(url).port);
    return new TestFleet({ ...db, drop: stop }, folder, port, {}, { workspaceId, token });
  }

  /** The environment of its servers. */
  settings(env: Record<string, string> = {}): Record<string, string> {
    return { ...this.env, ...env };
  }

  /** @param dist that of another version */
  async startServer(env: Record<string, string> = {}, dist?: string): Promise<BuiltProcess> {
    const program = 'apps/server/main.js';
    const server = this.track(BuiltProcess.start(program, this.settings(env), [], dist));
    await server.said('listening');
    return server;
  }

  /**
   * A worker that sends heartbeats every second and counts as dead after four.
   *
   * @param program below dist
   */
  async startWorker(
    name: string,
    env: Record<string, string> = {},
    program = 'apps/worker/main.js',
  ): Promise<BuiltProcess> {
    const worker = this.track(
      BuiltProcess.start(program, {
        DROVER_API_URL: `http://127.0.0.1:${this.port}`,
        DROVER_API_KEY: this.owner.token,
        DROVER_WORKSPACE_ID: this.workspaceId,
        DROVER_WORKER_NAME: name,
        DROVER_WORKER_DATA_DIR: join(this.folder, name),
        DROVER_WORKER_HEARTBEAT_SECONDS: '1',
        DROVER_WORKER_STALE_SECONDS: '4',
        DROVER_WORKER_GRACE_SECONDS: '2',
        ...env,
      }),
    );
    await worker.said('Registered');
    return worker;
  }

  /** A task that runs a script of Node. */
  async submit(script: string, values: Record<string, unknown> = {}): Promise<string> {
    const { status, body } = await this.api.post<{ id: string }>('/agent-tasks', {
      title: 'A script',
      taskType: 'test',
      retryBackoffSeconds: 0,
      inputContext: { command: [process.execPath, '-e', script] },
      ...values,
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  }

  /** The variables with which the command line is the owner of the workspace. */
  get access(): Record<string, string> {
    return {
      DROVER_API_URL: `http://127.0.0.1:${this.port}`,
      DROVER_API_KEY: String(this.credentials['authorization']).slice('Bearer '.length),
      DROVER_WORKSPACE_ID: this.workspaceId,
    };
  }

  async task(id: string): Promise<Record<string, unknown>> {
    return (await this.api.get(`/agent-tasks/${id}`)).body;
  }

  /** The first 200 entries of a task's log. */
  async logOf(id: string): Promise<LogEntry[]> {
    const path = `/agent-tasks/${id}/logs?order=asc&limit=200`;
    return (await this.api.get<{ items: LogEntry[] }>(path)).body.items;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.processes].map((process) => process.stop()));
    await this.db.drop();
    await rm(this.folder, { recursive: true, force: true });
  }

  private track(process: BuiltProcess): BuiltProcess {
    this.processes.add(process);
    return process;
  }
}
