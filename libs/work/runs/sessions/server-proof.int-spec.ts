import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { GATEWAY_SECRET, StandInGateway } from './testing/stand-in-gateway.js';

let gateway: StandInGateway;
let server: TestApp;

beforeAll(async () => {
  gateway = await StandInGateway.start();
  server = await startTestApp({
    ...gateway.env,
    GATEWAY_TIMEOUT_MS: '20000',
    SPAWN_ATTEMPTS: '1',
  });
});

afterAll(async () => {
  await gateway.stop();
  await server.stop();
});

function post(path: string, body: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(`${server.url}/api/v1/gateway/${path}`, { method: 'POST', headers, body });
}

describe('an answer to a gateway', () => {
  it.each([
    [
      'heartbeat',
      () => ({ ...gateway.nextHeartbeat(), capacity: 0, running: 0, queued: 0, sessions: [] }),
    ],
    ['signals', () => ({ gatewayId: gateway.id, runIds: [] })],
    ['sessions', () => ({ gatewayId: gateway.id, bootId: gateway.bootId, reports: [] })],
    ['heartbeat', () => ({}), 400],
    ['sessions', () => '{', 400],
    ['sessions', () => JSON.stringify('x'.repeat(1_100_000)), 413],
    ['signals', () => ({ gatewayId: 'another', runIds: [] }), 403],
  ] as [string, () => unknown, number?][])(
    'an answer to %s proves its server, for just that call',
    async (path, body, status = 200) => {
      const [jti, value] = [randomUUID(), body()];
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const answer = await post(path, text, gateway.token({ jti }));
      expect(answer.status).toBe(status);
      const proof = jwt.verify(answer.headers.get('drover-server-proof') ?? '', GATEWAY_SECRET, {
        algorithms: ['HS256'],
        issuer: 'drover-server',
        audience: 'drover:gateway-proof',
      }) as jwt.JwtPayload;
      expect(proof.sub).toBe(jti);
      expect((proof.exp ?? 0) - (proof.iat ?? 0)).toBe(60);
    },
  );

  it("an answer to a request without a gateway's token carries no proof", async () => {
    for (const token of [
      gateway.token({}, 'another secret that is long enough too'),
      gateway.token({ typ: undefined }),
      gateway.token({ jti: undefined }),
      gateway.token({ exp: Math.floor(Date.now() / 1000) - 60 }),
    ]) {
      const answer = await post('heartbeat', '{}', token);
      expect([answer.status, answer.headers.get('drover-server-proof')]).toEqual([401, null]);
      expect(await answer.json()).toMatchObject({
        code: 'invalid_gateway_token',
        advice: expect.stringContaining('GATEWAY_SECRET'),
      });
    }
  });
});

describe('a gateway with an endless answer', () => {
  it.each([
    [true, 'cannot be understood'],
    [false, 'no proof'],
  ])('an endless answer (proven: %j) is cut off, and the spawn fails', async (proven, why) => {
    gateway.behaviour = { kind: 'endless', proven };
    gateway.sentBytes = 0;
    const { api } = await server.newWorkspace();
    const headers = { authorization: `Bearer ${gateway.token()}` };
    await apiClient(server.url, headers).post('/gateway/heartbeat', {
      ...gateway.nextHeartbeat(),
      capacity: 100,
      running: 0,
      queued: 0,
      sessions: [],
    });
    await api.put(`/agents/${newId()}`, { name: 'Pushed', mode: 'push', command: ['node'] });
    const { body } = await api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
    const failed = await waitFor('the spawn to fail', async () => {
      const task = (await api.get(`/agent-tasks/${String(body['id'])}`)).body;
      return task['status'] === 'ABORTED' && task;
    });
    expect(failed['lastError']).toContain(why);
    // The data in the sockets adds to the data that is read.
    expect(gateway.sentBytes).toBeLessThan(33_554_432);
  });
});
