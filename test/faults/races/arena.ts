import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { loadConfig } from '#lib/config';
import { newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { createApp } from '../../../apps/server/create-app.js';
import { Pass } from '../../../libs/work/coordinator/cycle/pass.js';
import { ExpireLeases } from '../../../libs/work/coordinator/patterns/expire-leases.js';
import { PromoteRetries } from '../../../libs/work/coordinator/patterns/promote-retries.js';
import { RecoverLostRuns } from '../../../libs/work/coordinator/patterns/recover-lost-runs.js';
import { WatchLiveness } from '../../../libs/work/coordinator/patterns/watch-liveness.js';
import type { Reconciler } from '../../../libs/work/coordinator/cycle/reconciler.js';
import { EVERYWHERE } from '../../../libs/work/transitions/sweeps/sweeps.js';
import { type ApiAnswer, apiClient } from '../../support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/app.js';
import { testValkey } from '../../support/valkey.js';

const LIMIT = 1_000;
const noFence = () => Promise.resolve();

/** The clients of one agent, one for each server. */
export interface Contender {
  id: string;
  at: ReturnType<typeof apiClient>[];
}

export interface Held {
  taskId: string;
  runId: string;
}

/**
 * Two servers on one database, so that no server's memory decides a race. The tests call the sweeps
 * that race with them.
 */
export class Arena {
  private constructor(
    private readonly first: TestApp,
    private readonly second: { app: INestApplication; url: string },
    readonly workspace: TestWorkspace,
  ) {}

  static async open(): Promise<Arena> {
    const env = { ROLES: 'api' };
    const first = await startTestApp(env);
    const second = await startBeside(first, env);
    const workspace = await first.newWorkspace();
    return new Arena(first, second, workspace);
  }

  get db() {
    return this.first.db;
  }

  get urls(): string[] {
    return [this.first.url, this.second.url];
  }

  async close(): Promise<void> {
    await this.second.app.close();
    await this.first.stop();
  }

  /** A task that only its own contender can take. */
  async task(capability: string, values: Record<string, unknown> = {}): Promise<string> {
    const { status, body } = await this.workspace.api.post<{ id: string }>('/agent-tasks', {
      title: 'Fought over',
      taskType: 'race',
      retryBackoffSeconds: 0,
      requiredCapabilities: [capability],
      ...values,
    });
    expect(status).toBe(201);
    return body.id;
  }

  async contender(capability: string, maxConcurrentTasks = 1): Promise<Contender> {
    const { id, token } = await this.workspace.newAgent({
      capabilities: [capability],
      maxConcurrentTasks,
    });
    const credentials = { authorization: `Bearer ${token}` };
    return { id, at: this.urls.map((url) => apiClient(url, credentials)) };
  }

  /** A task in the middle of its run. */
  async underWay(values: Record<string, unknown> = {}): Promise<Held & { agent: Contender }> {
    const capability = `only-${newId()}`;
    const taskId = await this.task(capability, values);
    const agent = await this.contender(capability);
    const [runId = ''] = (await this.claim(agent)).map((held) => held.runId);
    expect((await api(agent).post(`/runs/${runId}/start`)).status).toBe(200);
    return { taskId, runId, agent };
  }

  async claim(agent: Contender, server = 0, maxTasks = 1): Promise<Held[]> {
    const { status, body } = await api(agent, server).post<{
      tasks: { run: { id: string }; task: { id: string } }[];
    }>(`/agents/${agent.id}/claim`, { maxTasks });
    if (status !== 200) return [];
    return body.tasks.map(({ run, task }) => ({ runId: run.id, taskId: task.id }));
  }

  command(taskId: string, command: string): Promise<ApiAnswer> {
    return this.workspace.api.post(`/agent-tasks/${taskId}/${command}`);
  }

  /** The run's lease passed a second ago. */
  async letLeasePass({ runId }: Held): Promise<void> {
    const sql = `UPDATE task_runs SET lease_expires_at = now() - interval '1 second' WHERE id = $1`;
    await this.db.owner.query(sql, [runId]);
  }

  /** Its agent was unresponsive for long: the run is STALE, and the agent counts as dead. */
  async fallSilent({ runId, agent }: Held & { agent: Contender }): Promise<void> {
    const { owner } = this.db;
    await owner.query('UPDATE task_runs SET lease_by_heartbeat = true WHERE id = $1', [runId]);
    await owner.query(
      `INSERT INTO agent_heartbeats AS h (workspace_id, agent_id, status, last_seen_at, next_expected_at)
       VALUES ($1, $2, 'healthy', now() - interval '1 hour', now() - interval '59 minutes')
       ON CONFLICT (workspace_id, agent_id) DO UPDATE
       SET last_seen_at = excluded.last_seen_at, next_expected_at = excluded.next_expected_at`,
      [this.workspace.id, agent.id],
    );
    await this.watchLiveness();
    const lost = `UPDATE agents SET lifecycle = 'ERROR', error_at = now() WHERE id = $1`;
    await owner.query(lost, [agent.id]);
  }

  /** Runs the coordinator's step for runs whose agent missed heartbeats, or is heard again. */
  async watchLiveness(): Promise<void> {
    await this.sweep(WatchLiveness);
  }

  /** Runs the coordinator's step for runs of dead agents. @returns how many runs it ended */
  async recoverLost(): Promise<number> {
    return this.sweep(RecoverLostRuns);
  }

  /** Runs the coordinator's step for passed leases. @returns how many runs it ended */
  async expireLeases(): Promise<number> {
    return this.sweep(ExpireLeases);
  }

  async promoteRetries(): Promise<void> {
    await this.sweep(PromoteRetries);
  }

  private async sweep(pattern: new (...dependencies: never[]) => Reconciler): Promise<number> {
    const reconciler = this.first.app.get<Reconciler>(pattern, { strict: false });
    return (await reconciler.sweep(new Pass(this.db.database, noFence, LIMIT, EVERYWHERE))).moved;
  }

  async read(id: string): Promise<Record<string, unknown>> {
    return (await this.workspace.api.get(`/agent-tasks/${id}`)).body;
  }

  async runsOf(
    taskId: string,
  ): Promise<{ id: string; state: string; end_reason: string | null }[]> {
    const sql =
      'SELECT id, state, end_reason FROM task_runs WHERE task_id = $1 ORDER BY generation';
    return (await this.db.owner.query(sql, [taskId])).rows;
  }

  /** Returns the statuses of a task in their order. */
  async wayOf(taskId: string): Promise<string[]> {
    const { rows } = await this.db.owner.query<{ new_status: string }>(
      `SELECT new_status FROM agent_task_logs
       WHERE task_id = $1 AND task_version IS NOT NULL ORDER BY task_version`,
      [taskId],
    );
    return rows.map((row) => row.new_status);
  }
}

export function api(agent: Contender, server = 0): ReturnType<typeof apiClient> {
  const client = agent.at[server % agent.at.length];
  if (!client) throw new Error('there is no such server');
  return client;
}

/** About the time of a request, in ms. */
const REQUEST_MS = 8;

/** Runs all at once, in an order that differs from round to round. */
export async function atOnce<T>(contestants: readonly (() => Promise<T>)[]): Promise<T[]> {
  const order = contestants.map((_, index) => index).sort(() => Math.random() - 0.5);
  const results: T[] = [];
  await Promise.all(
    order.map(async (index) => {
      results[index] = await (contestants[index] as () => Promise<T>)();
    }),
  );
  return results;
}

/** Starts each within the time of a request: a sweep sends none, and would always be the first. */
export function atOnceWithSweeps<T>(contestants: readonly (() => Promise<T>)[]): Promise<T[]> {
  return atOnce(
    contestants.map((contestant) => async () => {
      await delay(Math.random() * REQUEST_MS);
      return contestant();
    }),
  );
}

async function startBeside(first: TestApp, env: Record<string, string>) {
  const valkey = testValkey();
  const config = loadConfig({
    DATABASE_URL: first.db.appUrl,
    DATABASE_SERVICE_URL: first.db.serviceUrl,
    VALKEY_URL: valkey.url,
    VALKEY_KEY_PREFIX: valkey.keyPrefix,
    JWT_SECRET: 'a secret of the tests that is long enough',
    ENCRYPTION_KEYS: `tests:${'A'.repeat(43)}=`,
    LOG_LEVEL: 'silent',
    ...env,
  });
  const app = await createApp(config, Logger.create({ level: config.logLevel }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, url: (await app.getUrl()).replace('[::1]', '127.0.0.1') };
}
