import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../test/support/app.js';

async function get(app: TestApp, path: string) {
  const response = await fetch(`${app.url}${path}`);
  const type = response.headers.get('content-type') ?? '';
  const body = (type.includes('json') ? await response.json() : null) as Record<string, unknown>;
  return { status: response.status, body };
}

describe('the server', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });

  afterAll(() => app.stop());

  it('a server is alive, ready and healthy without credentials', async () => {
    expect(await get(app, '/healthz')).toEqual({ status: 200, body: { status: 'alive' } });
    expect((await get(app, '/readyz')).body).toMatchObject({
      status: 'ready',
      database: 'connected',
      valkey: 'connected',
    });
    const { body } = await get(app, '/health/coordinator');
    expect(Object.keys(body)).toEqual(['status', 'coordinator', 'database', 'valkey', 'gateway']);
  });

  it.each([
    ['/healthz', null],
    ['/readyz', null],
    ['/health/coordinator', expect.stringMatching(/^"address";q=/)],
  ])('requests for %s are counted by address: %s', async (path, policy) => {
    const { headers } = await fetch(`${app.url}${path}`);
    expect(headers.get('ratelimit-policy')).toEqual(policy);
  });

  it("a page at the server's address links to the documentation", async () => {
    const response = await fetch(`${app.url}/`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const links = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(
      ([, to]) => to ?? '',
    );
    expect(links).toContain('/docs');
    for (const link of links) expect([link, (await get(app, link)).status]).toEqual([link, 200]);
  });

  it('a server serves its documentation', async () => {
    expect((await get(app, '/docs')).status).toBe(200);
    const { body } = await get(app, '/docs/openapi.json');
    expect(Object.keys(body.paths as object)).toContain('/api/v1/agent-tasks');
  });

  it('a server requires credentials everywhere else', async () => {
    expect((await get(app, '/api/v1/agent-tasks')).body.code).toBe('unauthenticated');
    const heartbeat = await fetch(`${app.url}/api/v1/agents/x/heartbeat`, { method: 'POST' });
    expect(heartbeat.status).toBe(401);
  });
});

describe('a server without the role api', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ ROLES: 'coordinator' });
  });

  afterAll(() => app.stop());

  it.each(['/api/v1/agent-tasks', '/%61pi/v1/agent-tasks', '/api%2fv1/auth/me', '/api/v1/nothing'])(
    'a server without the role api answers only health checks, and not %s',
    async (path) => {
      expect((await get(app, '/readyz')).status).toBe(200);
      expect(await get(app, path)).toMatchObject({
        status: 404,
        body: { code: 'route_not_found' },
      });
    },
  );

  it('a server without the role api serves no MCP tools', async () => {
    const answer = await fetch(`${app.url}/mcp`, { method: 'POST' });
    expect(await answer.json()).toMatchObject({ status: 404, code: 'route_not_found' });
  });

  it('a server without the role api logs that it is one', async () => {
    const detail = expect.stringContaining('role api');
    expect((await get(app, '/%61pi/v1/agent-tasks')).body).toMatchObject({ detail });
    expect((await get(app, '/api/v1/agent-tasks')).body).toMatchObject({ detail });
  });
});
