import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { StandInGateway } from './testing/stand-in-gateway.js';

/** The identity of a gateway, its life, and its sessions. */
interface Past {
  id: string;
  bootId: string;
}

let gateway: StandInGateway;
let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({ ...gateway.env, GATEWAY_TIMEOUT_MS: '300' });
});

beforeEach(async () => {
  gateway.replace();
  gateway.behaviour = { kind: 'spawn' };
  workspace = await server.newWorkspace();
  await heartbeat();
  const agent = { name: 'Pushed', mode: 'push', command: ['node'] };
  expect((await workspace.api.put(`/agents/${newId()}`, agent)).status).toBe(201);
});

afterAll(async () => {
  await server.stop();
  await gateway.stop();
});

const as = ({ id }: Pick<Past, 'id'>) =>
  apiClient(server.url, { authorization: `Bearer ${gateway.token({ sub: id })}` });

function heartbeat(who?: Past, runId?: string) {
  const { gatewayId, ...facts } = gateway.nextHeartbeat();
  const itself = who ? { gatewayId: who.id, bootId: who.bootId } : { gatewayId };
  const sessions = runId === undefined ? [] : [{ runId, sessionKey: 'k', status: 'RUNNING' }];
  const { id } = who ?? gateway;
  return as({ id }).post<{ stop: object[] }>('/gateway/heartbeat', {
    ...facts,
    ...itself,
    capacity: 10,
    running: 0,
    queued: 0,
    sessions,
  });
}

const taskOf = async (id: string) =>
  (await workspace.api.get<{ status: string; runId: string }>(`/agent-tasks/${id}`)).body;

/** A run whose first spawn answer was lost, and which got another session at the next gateway. */
async function aRunWithTwoSessions() {
  gateway.behaviour = { kind: 'spawn_and_hang' };
  const wanted = { title: 'A task', taskType: 'test' };
  const { id } = (await workspace.api.post<{ id: string }>('/agent-tasks', wanted)).body;
  await waitFor('its first session', () => gateway.sessions.size > 0);
  const first: Past = { id: gateway.id, bootId: gateway.bootId };
  gateway.replace();
  gateway.behaviour = { kind: 'spawn' };
  await heartbeat();
  await waitFor('its second session', async () => (await taskOf(id)).status === 'RUNNING');
  return { id, runId: (await taskOf(id)).runId, first };
}

it('the health check reports a reachable gateway as long as it is heard', async () => {
  const gatewayState = async () => {
    const health = await fetch(`${server.url}/health/coordinator`);
    return ((await health.json()) as { gateway: string }).gateway;
  };
  expect(await gatewayState()).toBe('reachable');
  await server.db.owner.query(`UPDATE gateways SET last_seen_at = now() - interval '1 hour'`);
  expect(await gatewayState()).toBe('unreachable');
});

describe('a gateway whose session was spawned again elsewhere', () => {
  it('a second session is told to stop repeatedly, and logged once', async () => {
    const { id, runId, first } = await aRunWithTwoSessions();
    const orders = [{ runId, reason: 'spawned_elsewhere' }];
    const signals = await as(first).post<{ runs: object[] }>('/gateway/signals', {
      gatewayId: first.id,
      runIds: [runId],
      waitMs: 10_000,
    });
    expect(signals.body.runs).toMatchObject([{ ...orders[0], action: 'stop' }]);
    for (let heartbeats = 0; heartbeats < 2; heartbeats++) {
      expect((await heartbeat(first, runId)).body.stop).toMatchObject(orders);
    }
    const logs = await workspace.api.get<{ items: object[] }>(
      `/agent-tasks/${id}/logs?event=split_brain_conflict`,
    );
    const both = { runId, gatewayId: first.id, rightfulGatewayId: gateway.id };
    expect(logs.body.items).toMatchObject([{ level: 'WARN', details: both }]);
    const { rows } = await server.db.owner.query(
      `SELECT 1 FROM journal WHERE event = 'run.split_brain_conflict' AND run_id = $1`,
      [runId],
    );
    expect(rows).toHaveLength(1);
    expect((await heartbeat(undefined, runId)).body.stop).toEqual([]);
  });

  it('a report about a second session does not end the run', async () => {
    const { id, runId, first } = await aRunWithTwoSessions();
    const report = (who: Past) =>
      as(who).post<{ results: object[] }>('/gateway/sessions', {
        gatewayId: who.id,
        bootId: who.bootId,
        reports: [
          { runId, sessionKey: 'k', event: 'exited', at: new Date().toISOString(), exitCode: 143 },
        ],
      });
    expect((await report(first)).body.results).toEqual([
      { runId, applied: false, reason: 'spawned_elsewhere' },
    ]);
    expect((await taskOf(id)).status).toBe('RUNNING');
    const { results } = (await report(gateway)).body;
    expect(results).toEqual([{ runId, applied: true }]);
    expect((await taskOf(id)).status).toBe('ABORTED');
  });
});
