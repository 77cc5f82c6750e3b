import { afterAll, beforeAll, expect } from '@jest/globals';
import { Redis } from 'iovalkey';
import { variables } from '#lib/config';
import { Scene } from '../../../libs/work/coordinator/testing/scene.js';
import { sharedServer } from '../../support/shared-server.js';
import { waitFor } from '../../support/wait-for.js';
import { aDyingAgent } from './dying-agent.js';
import { KEYS } from '../promises/agent-orchestration-data.js';
import { prove } from './prove.js';

/** The keys as a program beside the servers reads them. */
let valkey: Redis;
let scene: Scene;

beforeAll(async () => {
  const server = await sharedServer('all');
  scene = await Scene.of(server);
  valkey = new Redis(server.valkey.url, { keyPrefix: server.valkey.keyPrefix });
});
afterAll(async () => {
  await valkey?.quit();
  await scene?.server.stop();
});

type Text = string | null | undefined;

/** Waits for a value of a key that satisfies the condition. */
async function until<T>(
  key: string,
  read: () => Promise<T>,
  is: (value: T) => boolean,
): Promise<T> {
  const { value } = await waitFor(key, async () => {
    const found = await read();
    return is(found) && { value: found };
  });
  return value;
}

const untilHash = (key: string, field: string): Promise<Record<string, string>> =>
  until(
    key,
    () => valkey.hgetall(key),
    (hash) => hash[field] !== undefined,
  );

/** An agent that has started its task in a session with a key. */
async function aSession() {
  const held = await scene.held({}, { start: false });
  const sessionKey = `agent:main:${held.runId}`;
  await held.agent.api.post(`/agent-tasks/${held.id}/start`, { sessionKey });
  return { ...held, sessionKey };
}

const isNear = (ms: Text): boolean => Math.abs(Number(ms) - Date.now()) < 600_000;

prove(KEYS, {
  authority: async () => {
    expect(variables.shape.VALKEY_VIEWS.parse(undefined)).toBe(false);
    const id = await scene.task();
    const key = `tasks:pending:${scene.id}`;
    await until(key, () => valkey.zscore(key, id), Boolean);
    await valkey.del(key);
    expect(await scene.read(id)).toMatchObject({ status: 'PENDING' });
  },

  pending: async () => {
    const key = `tasks:pending:${scene.id}`;
    const [low, high] = [await scene.task({ priority: 2 }), await scene.task({ priority: 9 })];
    await until(key, () => valkey.zscore(key, high), Boolean);
    await until(key, () => valkey.zscore(key, low), Boolean);
    const order = (await valkey.zrange(key, 0, -1)).filter((id) => [low, high].includes(id));
    expect(order).toEqual([high, low]);
    expect(isNear(String(Number(await valkey.zscore(key, high)) - 1e13))).toBe(true);
    await scene.workspace.api.post(`/agent-tasks/${low}/cancel`);
    await until(
      key,
      () => valkey.zscore(key, low),
      (score) => score === null,
    );
  },

  agentTasks: async () => {
    const { id, agent } = await aSession();
    expect(isNear((await untilHash(`agent:tasks:${agent.id}`, id))[id])).toBe(true);
  },

  active: async () => {
    const { id, agent, sessionKey } = await aSession();
    const key = `tasks:active:${scene.id}`;
    const isActive = () => valkey.sismember(key, `${id}:${sessionKey}`);
    await until(key, isActive, (is) => is === 1);
    await agent.api.post(`/agent-tasks/${id}/complete`);
    await until(key, isActive, (is) => is === 0);
  },

  heartbeat: async () => {
    const { id, agent } = await aSession();
    const beat = { status: 'healthy', currentTaskId: id };
    await agent.api.post(`/agents/${agent.id}/heartbeat`, beat);
    const key = `agent:heartbeat:${agent.id}`;
    const text = await until(key, () => valkey.get(key), Boolean);
    const { status, task_id, timestamp } = JSON.parse(text ?? '') as Record<string, string>;
    expect([status, task_id, isNear(timestamp)]).toEqual(['healthy', id, true]);
    const seconds = await valkey.ttl(key);
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
  },

  agentStatus: async () => {
    const { id, agent } = await aSession();
    const key = `agent:status:${agent.id}`;
    expect(await untilHash(key, 'current_task')).toMatchObject({ current_task: id });
    await agent.api.post(`/agents/${agent.id}/heartbeat`, { status: 'healthy' });
    const { last_heartbeat } = await untilHash(key, 'last_heartbeat');
    expect(isNear(last_heartbeat)).toBe(true);
    await agent.api.post(`/agents/${agent.id}/deregister`);
    await until(
      key,
      () => valkey.exists(key),
      (exists) => exists === 0,
    );
  },

  statusWords: async () => {
    const { agent } = await aSession();
    const key = `agent:status:${agent.id}`;
    await until(
      key,
      () => valkey.hget(key, 'status'),
      (status) => status === 'WORKING',
    );
  },

  staleAgents: async () => {
    const { agent } = await aDyingAgent(scene);
    const key = 'coordinator:stale_agents';
    const score = await until(key, () => valkey.zscore(key, agent.id), Boolean);
    expect(isNear(score)).toBe(true);
  },

  recoveryQueue: async () => {
    const { id, agent } = await scene.held({ retryBackoffSeconds: 86_400 });
    await agent.api.post(`/agent-tasks/${id}/fail`, { error: { message: 'It broke' } });
    const key = `coordinator:recovery_queue:${scene.id}`;
    await until(
      key,
      () => valkey.lrange(key, 0, -1),
      (ids) => ids.includes(id),
    );
  },

  assignLock: async () => {
    // The lock lives for 5 s, which a busy machine can miss: it looks at several assignments.
    const key = await waitFor('a lock', async () => {
      const { id, agent } = await scene.held();
      const lock = `task:assign_lock:${id}`;
      for (let look = 0; look < 100; look++) {
        if ((await valkey.get(lock)) === agent.id) return lock;
      }
      return undefined;
    });
    expect(await valkey.pttl(key)).toBeLessThanOrEqual(5_000);
  },

  sessionContext: async () => {
    const { id, agent, sessionKey } = await aSession();
    const key = `session:context:${sessionKey}`;
    const context = await untilHash(key, 'started_at');
    expect(context).toMatchObject({
      workspace_id: scene.id,
      agent_id: agent.id,
      task_id: id,
      started_at: expect.any(String),
    });
    const seconds = await valkey.ttl(key);
    expect(seconds).toBeGreaterThan(3_000);
    expect(seconds).toBeLessThanOrEqual(3_600);
  },

  coordinatorLock: async () => {
    expect(await valkey.exists('coordinator:lock:global')).toBe(1);
    expect(await valkey.exists(`coordinator:lock:${scene.id}`)).toBe(0);
  },
});
