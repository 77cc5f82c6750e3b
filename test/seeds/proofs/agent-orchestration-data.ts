import { afterAll, beforeAll, expect } from '@jest/globals';
import { legalTaskTransitions, mayTransition, TASK_STATUSES } from '#lib/transitions/domain';
import { type Held, Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { sharedServer, type TestWorkspace } from '../../support/shared-server.js';
import { waitFor } from '../../support/wait-for.js';
import { aDyingAgent } from './dying-agent.js';
import { CHANNELS, ROWS, TASK_STATES } from '../promises/agent-orchestration-data.js';
import { prove } from './prove.js';
import { type Heard, hearChannel } from './valkey.js';

type Body = Record<string, unknown>;

let server: Awaited<ReturnType<typeof sharedServer>>;
let workspace: TestWorkspace;
let scene: Scene;
let agentEvents: Heard;
let commands: Heard;
let dying: Held;

beforeAll(async () => {
  server = await sharedServer('all');
  scene = await Scene.of(server);
  workspace = scene.workspace;
  agentEvents = await hearChannel(server.valkey, `agents:events:${scene.id}`);
  commands = await hearChannel(server.valkey, `coordinator:commands:${scene.id}`);
  dying = await aDyingAgent(scene);
});
afterAll(async () => {
  await Promise.all([agentEvents.close(), commands.close()]);
  await server.stop();
});

const TASK = { title: 'A task', taskType: 'development' };

prove(TASK_STATES, {
  statuses: () => {
    const words = 'PENDING ASSIGNED RUNNING PAUSED COMPLETED FAILED ABORTED ARCHIVED';
    expect([...TASK_STATUSES].sort()).toEqual(words.split(' ').sort());
  },

  edges: () => {
    const arrows = [
      ['PENDING', 'ASSIGNED'],
      ['ASSIGNED', 'RUNNING'],
      ['ASSIGNED', 'PAUSED'],
      ['ASSIGNED', 'COMPLETED'],
      ['RUNNING', 'COMPLETED'],
      ['PAUSED', 'COMPLETED'],
      ['COMPLETED', 'ARCHIVED'],
      ['ABORTED', 'PENDING'],
    ] as const;
    expect(arrows.filter(([from, to]) => !mayTransition(from, to))).toEqual([]);
  },

  failedToAborted: () => {
    expect(mayTransition('FAILED', 'ABORTED')).toBe(false);
    expect(legalTaskTransitions('FAILED')).toContain('PENDING');
    expect(legalTaskTransitions('ABORTED')).toContain('FAILED');
  },
});

/** The columns of the document's tables, in the spelling of the API. */
const TASK_COLUMNS = `id workspaceId title description taskType status priority agentId sessionKey
  progressPercent currentStep estimatedCompletionAt retryCount maxRetries retryBackoffSeconds
  lastError dependsOn blocks inputContext outputResult checkpointData metadata tags createdBy
  createdAt updatedAt assignedAt startedAt completedAt failedAt`;
const LOG_COLUMNS = `id taskId agentId level event message details previousStatus newStatus
  sessionKey stackTrace createdAt`;

const missing = (columns: string, body: Body | undefined): string[] =>
  columns.split(/\s+/).filter((name) => body?.[name] === undefined);

/** Returns the columns of a table. */
async function columnsOf(table: string): Promise<string[]> {
  const { rows } = await server.db.owner.query<{ name: string }>(
    'SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1',
    [table],
  );
  return rows.map(({ name }) => name);
}

async function mayDo(privilege: string, table: string): Promise<unknown> {
  const { rows } = await server.db.owner.query<{ may: boolean }>(
    `SELECT has_table_privilege('drover_app', $1, $2) AS may`,
    [table, privilege],
  );
  return rows[0]?.may;
}

prove(ROWS, {
  taskColumns: async () => {
    const { body } = await workspace.api.post('/agent-tasks', TASK);
    expect(missing(TASK_COLUMNS, body)).toEqual([]);
  },

  taskDefaults: async () => {
    const { body } = await workspace.api.post('/agent-tasks', TASK);
    expect(body).toMatchObject({
      priority: 5,
      maxRetries: 3,
      retryBackoffSeconds: 300,
      retryCount: 0,
      progressPercent: 0,
    });
    for (const priority of [0, 11]) {
      const { status } = await workspace.api.post('/agent-tasks', { ...TASK, priority });
      expect(status).toBe(400);
    }
  },

  dependencies: async () => {
    const columns = await columnsOf('agent_tasks');
    expect(columns).not.toContain('depends_on');
    const first = await workspace.api.post<{ id: string }>('/agent-tasks', TASK);
    const dependsOn = [first.body.id];
    const second = await workspace.api.post<{ id: string }>('/agent-tasks', { ...TASK, dependsOn });
    expect(second.body).toMatchObject({ dependsOn });
    const { body } = await workspace.api.get(`/agent-tasks/${first.body.id}`);
    expect(body['blocks']).toEqual([second.body.id]);
    const cycle = await workspace.api.post(`/agent-tasks/${first.body.id}/dependencies`, {
      dependsOn: [second.body.id],
    });
    expect([cycle.status, cycle.body['code']]).toEqual([409, 'dependency_cycle']);
  },

  author: async () => {
    await workspace.api.post('/agent-tasks', TASK);
    const removal = server.db.owner.query('DELETE FROM users WHERE id = $1', [workspace.userId]);
    await expect(removal).rejects.toThrow('never removed');
  },

  logColumns: async () => {
    const { id: taskId, agent } = await scene.held();
    const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'];
    const entries = levels.map((level) => ({ level, message: level }));
    const { status } = await agent.api.post(`/agent-tasks/${taskId}/logs`, { entries });
    expect(status).toBe(202);
    const { body } = await workspace.api.get<{ items: Body[] }>(
      `/agent-tasks/${taskId}/logs?limit=100`,
    );
    expect(missing(LOG_COLUMNS, body.items[0])).toEqual([]);
    expect(body.items.map(({ level }) => level)).toEqual(expect.arrayContaining(levels));
  },

  logWords: async () => {
    const { id, agent } = await scene.held();
    await agent.api.post(`/agent-tasks/${id}/complete`);
    const { body } = await workspace.api.get<{ items: Body[] }>(
      `/agent-tasks/${id}/logs?order=asc`,
    );
    expect(body.items.map(({ action }) => action)).toEqual([
      'task_created',
      'task_assigned',
      'task_started',
      'task_completed',
    ]);
  },

  logIsImmutable: async () => {
    for (const table of ['agent_task_logs', 'journal', 'task_log_lines']) {
      for (const privilege of ['UPDATE', 'DELETE', 'TRUNCATE']) {
        expect([table, privilege, await mayDo(privilege, table)]).toEqual([
          table,
          privilege,
          false,
        ]);
      }
    }
  },

  logWithoutTask: async () => {
    expect(await mayDo('DELETE', 'agent_tasks')).toBe(false);
    const { body } = await workspace.api.post('/agent-tasks', TASK);
    expect((await workspace.api.delete(`/agent-tasks/${String(body['id'])}`)).status).toBe(405);
  },

  heartbeatRow: async () => {
    const { id: taskId, agent } = await scene.held();
    await agent.api.post(`/agents/${agent.id}/heartbeat`, {
      status: 'degraded',
      currentTaskId: taskId,
      progressPercent: 45,
      memoryMb: 512,
      cpuPercent: 35,
    });
    const row = await waitFor('the heartbeat in Postgres', async () => {
      const { rows } = await server.db.owner.query<Body>(
        'SELECT * FROM agent_heartbeats WHERE agent_id = $1 AND memory_mb IS NOT NULL',
        [agent.id],
      );
      return rows[0];
    });
    expect(row).toMatchObject({
      status: 'degraded',
      current_task_id: taskId,
      progress_percent: 45,
      memory_mb: 512,
      cpu_percent: 35,
      last_seen_at: expect.any(Date),
    });
    const { body } = await workspace.api.get(`/agents/${agent.id}/health`);
    const [seen, next] = [body['lastSeenAt'], body['nextExpectedAt']].map((at) =>
      Date.parse(String(at)),
    );
    expect(Number(next) - Number(seen)).toBe(30_000);
  },

  agentDefaults: async () => {
    const { id } = await workspace.newAgent();
    const { body } = await workspace.api.put(`/agents/${id}`, { name: `agent ${id}` });
    expect(body).toMatchObject({
      coordinatorEnabled: true,
      maxConcurrentTasks: 1,
      heartbeatIntervalSeconds: 30,
      staleThresholdSeconds: 180,
      capabilities: [],
    });
  },

  budgetColumns: async () => {
    const period = {
      periodStart: '2126-01-01T00:00:00.000Z',
      periodEnd: '2126-02-01T00:00:00.000Z',
    };
    const values = { scope: 'global', allocated: 50_000, ...period };
    const { status, body } = await workspace.api.post('/budgets', values);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        ...period,
        scope: 'global',
        scopeId: workspace.id,
        allocated: '50000',
        consumed: '0',
        remaining: '50000',
      }),
    ]);
  },

  usageColumns: async () => {
    const columns = `id workspace_id task_id input_tokens output_tokens total_tokens model cost_usd
      operation logged_at`.split(/\s+/);
    expect(await columnsOf('agent_usage_logs')).toEqual(expect.arrayContaining(columns));
  },

  usageSession: async () => {
    const columns = await columnsOf('agent_usage_logs');
    expect(columns).toContain('run_id');
    expect(columns).not.toContain('agent_session_id');
  },
});

prove(CHANNELS, {
  tasks: async () => {
    const { id, agent } = await scene.held();
    const heard = await hearChannel(server.valkey, `tasks:events:${workspace.id}`);
    await agent.api.post(`/agent-tasks/${id}/complete`, {});
    await heard.message({ event: 'task_completed', task_id: id });
    await heard.close();
  },

  agents: async () => {
    await agentEvents.message({ event: 'agent_stale', agent_id: dying.agent.id });
  },

  commands: async () => {
    await commands.message({ command: 'reassign_task', task_id: dying.id });
  },
});
