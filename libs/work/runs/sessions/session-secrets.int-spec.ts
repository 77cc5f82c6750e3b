import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { KeyRing, Resealing } from '#lib/secrets';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

type Json = Record<string, unknown>;

const HIDDEN = '[redacted]';

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;
let secret: string;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp(gateway.env);
});
beforeEach(async () => {
  gateway.behaviour = { kind: 'spawn' };
  gateway.spawns.length = 0;
  workspace = await server.newWorkspace();
  secret = `correct horse ${newId()}`;
  const api = apiClient(server.url, {
    authorization: `Bearer ${gateway.token({ sub: gateway.id })}`,
  });
  const room = { capacity: 100, running: 0, queued: 0, sessions: [] };
  await api.post('/gateway/heartbeat', { ...gateway.nextHeartbeat(), ...room });
});
afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const register = (id: string, values: Json) =>
  workspace.api.put<Json>(`/agents/${id}`, { name: 'Pushed', mode: 'push', ...values });

const aTask = (values: Json = {}) =>
  workspace.api.post<{ id: string }>('/agent-tasks', { title: 'T', taskType: 't', ...values });

const nextSpawn = () => waitFor('a session', () => Promise.resolve(gateway.spawns.shift()));

it('secrets reach the sessions of their agent, and no other reader', async () => {
  const id = newId();
  const registered = await register(id, {
    name: `Uses ${secret}`,
    command: ['node', 'agent.js', '--api-key', 'swordfish-1', `--with=${secret}`],
    metadata: { dbPass: 'swordfish-2', note: secret },
    secrets: { OPENAI_API_KEY: secret, BOTH: 'of the agent' },
    maxConcurrentTasks: 5,
  });
  const shown = {
    name: `Uses ${HIDDEN}`,
    command: ['node', 'agent.js', '--api-key', HIDDEN, `--with=${HIDDEN}`],
    metadata: { dbPass: HIDDEN, note: HIDDEN },
    secrets: { OPENAI_API_KEY: HIDDEN, BOTH: HIDDEN },
  };
  expect(registered).toMatchObject({ status: 201, body: shown });
  const task = await aTask({ title: `T ${secret}`, secrets: { BOTH: 'of the task', OWN: secret } });
  const spawn = await nextSpawn();
  expect(spawn).toMatchObject({
    command: ['node', 'agent.js', '--api-key', 'swordfish-1', `--with=${secret}`],
    secrets: { OPENAI_API_KEY: secret, BOTH: 'of the task', OWN: secret },
    label: `task:${task.body.id}:T ${HIDDEN}`,
    context: { taskTitle: `T ${secret}` },
  });
  const session = apiClient(server.url, { authorization: `Bearer ${spawn.runToken}` });
  await session.post(`/runs/${spawn.runId}/start`, {});
  await session.post(`/runs/${spawn.runId}/logs`, { entries: [{ message: 'has swordfish-1' }] });
  const reads = await Promise.all([
    workspace.api.get(`/agents/${id}`),
    workspace.api.get('/agents'),
    workspace.api.get(`/agent-tasks/${task.body.id}/logs`),
  ]);
  expect(JSON.stringify(reads.map(({ body }) => body))).not.toMatch(/swordfish|correct horse/);
  expect(await tablesWith(server, secret)).toEqual([]);
  expect(await tablesWith(server, 'swordfish')).toEqual([]);
});

it('secrets survive registrations without them, masked values and a rotation of keys', async () => {
  const id = newId();
  const command = ['node', '--token', 'swordfish-3', 'x'];
  await register(id, { command, secrets: { A: secret, B: 'swordfish-4' } });
  await register(id, { name: 'Renamed' });
  const back = await register(id, {
    command: ['node', '--token', HIDDEN, 'y'],
    secrets: { A: HIDDEN, C: 'swordfish-5' },
  });
  expect(back.body).toMatchObject({ secrets: { A: HIDDEN, C: HIDDEN } });
  const before = await server.app.get(KeyRing, { strict: false }).current();
  const resealing = server.app.get(Resealing, { strict: false });
  await resealing.rotate();
  while ((await resealing.batch(100)).more);
  expect(await tablesWith(server, before.id)).toEqual(['data_keys']);
  await aTask();
  expect(await nextSpawn()).toMatchObject({
    command: ['node', '--token', 'swordfish-3', 'y'],
    secrets: { A: secret, C: 'swordfish-5' },
  });
});

it('unreadable secrets fail the task, and an agent cannot set its own', async () => {
  const id = newId();
  await register(id, { command: ['node'], secrets: { A: secret } });
  const own = await workspace.api.post<{ token: string }>(`/agents/${id}/token`, {});
  const itself = apiClient(server.url, { authorization: `Bearer ${own.body.token}` });
  const change = { name: 'A', secrets: { A: 'x' } };
  expect(await itself.put(`/agents/${id}`, change)).toMatchObject({ status: 403 });
  await server.db.owner.query(
    `UPDATE agent_secrets SET sealed = '{"A": "drover-sealed:1:x:AAAA:"}' WHERE agent_id = $1`,
    [id],
  );
  const { body } = await aTask();
  const failed = await waitFor('the task to fail', async () => {
    const { body: task } = await workspace.api.get<Json>(`/agent-tasks/${body.id}`);
    return task['status'] === 'FAILED' ? task : undefined;
  });
  expect(failed).toMatchObject({ failureReason: 'secrets_unreadable' });
  expect(gateway.spawns).toEqual([]);
});

describe('a credential for a host', () => {
  const host = 'registry.example.com';
  const allow = { inputContext: { network: 'allow' } };
  const start = async (network: string) => {
    const body = { network, allowedHosts: [host] };
    expect((await workspace.api.patch(`/workspaces/${workspace.id}`, body)).status).toBe(200);
    await register(newId(), { command: ['node'] });
  };
  const set = (value: string) => workspace.api.put(`/host-credentials/${host}`, { value });

  it('it reaches the host of a session with allowed hosts, beside everything that the session gets', async () => {
    await start('allow');
    expect((await set(`Bearer ${secret}`)).status).toBe(200);
    await aTask(allow);
    const { credentials, ...rest } = await nextSpawn();
    expect(credentials).toEqual([
      { host, scheme: 'https', header: 'authorization', value: `Bearer ${secret}` },
    ]);
    expect(rest.metadata).toMatchObject({ network: 'allow' });
    expect(JSON.stringify(rest)).not.toContain(secret);
  });

  it('it stays with the server if the session has no proxy', async () => {
    await start('none');
    await set(`Bearer ${secret}`);
    await aTask(allow);
    expect(await nextSpawn()).not.toHaveProperty('credentials');
  });

  it('a session without its credential does not start', async () => {
    await start('allow');
    await set(`Bearer ${secret}`);
    await workspace.api.put(`/host-credentials/other.example`, { value: 'x' });
    // The value of another row does not open.
    await server.db.owner.query(
      `UPDATE host_credential_secrets s SET sealed = o.sealed FROM host_credential_secrets o
       WHERE s.workspace_id = $1 AND o.workspace_id = $1 AND o.credential_id > s.credential_id`,
      [workspace.id],
    );
    const { body } = await aTask(allow);
    const failed = await waitFor('its failure', async () => {
      const { body: task } = await workspace.api.get<Json>(`/agent-tasks/${body.id}`);
      return task['status'] === 'FAILED' ? task : undefined;
    });
    expect(failed['lastError']).toContain('A credential for a host cannot be opened');
    expect(gateway.spawns).toEqual([]);
  });
});
