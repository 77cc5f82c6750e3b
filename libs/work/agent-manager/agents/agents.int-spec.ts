import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import {
  sharedServer,
  type TestAgent,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import { eventsOf as eventsIn } from '../../../../test/support/events.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { expectNothingLeftOpen } from '../../../../test/support/leaks.js';
import { transitionAgent } from '#lib/transitions';

let server: TestServer;
let workspace: TestWorkspace;
let other: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer('all');
  workspace = await server.newWorkspace();
  other = await server.newWorkspace();
});

afterEach(() => expectNothingLeftOpen(server.db.owner));
afterAll(() => server.stop());

const SEED_BODY = {
  name: 'Dev Agent #1',
  model: 'claude-sonnet-4',
  capabilities: ['typescript', 'nestjs', 'prisma'],
  maxConcurrentTasks: 2,
  heartbeatIntervalSeconds: 30,
};

async function anId(values: Record<string, unknown> = {}): Promise<string> {
  const id = newId();
  const answer = await workspace.api.put(`/agents/${id}`, { ...SEED_BODY, ...values });
  expect(answer.status).toBe(201);
  return id;
}

async function eventsOf(id: string): Promise<Record<string, unknown>[]> {
  const all = await eventsIn(server.db.owner, workspace.id, 'agent.status_changed');
  return all.filter(({ agentId }) => agentId === id);
}

async function lifecycleOf(id: string): Promise<string | undefined> {
  const { rows } = await server.db.owner.query<{ lifecycle: string }>(
    'SELECT lifecycle FROM agents WHERE id = $1',
    [id],
  );
  return rows[0]?.lifecycle;
}

describe('registering', () => {
  it('a registered agent starts, and is idle after its first heartbeat or claim', async () => {
    const id = newId();
    const made = await workspace.api.put(`/agents/${id}`, SEED_BODY);
    expect(made).toMatchObject({
      status: 201,
      body: {
        id,
        workspaceId: workspace.id,
        name: 'Dev Agent #1',
        mode: 'pull',
        model: 'claude-sonnet-4',
        status: 'STARTING',
        hasSentHeartbeat: false,
        capabilities: ['nestjs', 'prisma', 'typescript'],
        coordinatorEnabled: true,
        maxConcurrentTasks: 2,
        liveRuns: 0,
        heartbeatIntervalSeconds: 30,
        staleThresholdSeconds: 180,
        createdBy: workspace.userId,
      },
    });
    expect(made.body.lastSeenAt).not.toBeNull();
    expect(made.headers.get('etag')).toBe(`"${String(made.body.version)}"`);
    expect(await eventsOf(id)).toEqual([]);
    expect((await workspace.api.get(`/agents/${id}`)).body).toEqual(made.body);

    const signs = { claimed: ['/claim', {}], heartbeat: ['/heartbeat', { status: 'healthy' }] };
    for (const [reason, [rest, body]] of Object.entries(signs)) {
      const path = `/agents/${await anId()}`;
      const { token } = (await workspace.api.post<{ token: string }>(`${path}/token`)).body;
      const api = apiClient(server.url, { authorization: `Bearer ${token}` });
      await api.post(`${path}${rest}`, body);
      const events = () => eventsOf(path.slice(8)).then((all) => all.length > 0 && all);
      const moved = { previousStatus: 'STARTING', newStatus: 'IDLE', reason, version: 2 };
      expect(await waitFor(`the agent to be ${reason}`, events)).toMatchObject([moved]);
    }
  });

  it('a registration changes the given fields and keeps the rest', async () => {
    const id = await anId({ hostName: 'one', pid: 1, metadata: { a: 1 } });
    const changed = await workspace.api.put(`/agents/${id}`, {
      name: 'Renamed',
      hostName: null,
      restartCount: 3,
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        name: 'Renamed',
        hostName: null,
        pid: 1,
        restartCount: 3,
        metadata: { a: 1 },
        maxConcurrentTasks: 2,
        capabilities: ['nestjs', 'prisma', 'typescript'],
      },
    });
    expect(await eventsOf(id)).toEqual([]);
  });

  it('a registration respects If-Match', async () => {
    const id = await anId();
    const put = (version: string) =>
      workspace.api.put(`/agents/${id}`, { name: 'N' }, { 'if-match': version });
    expect((await put('"1"')).status).toBe(200);
    expect(await put('"1"')).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });
    const nobody = await workspace.api.put(
      `/agents/${newId()}`,
      { name: 'N' },
      { 'if-match': '1' },
    );
    expect(nobody.status).toBe(404);
  });

  it('concurrent registrations of one id create one agent', async () => {
    const id = newId();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => workspace.api.put(`/agents/${id}`, { name: `N${i}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200, 200, 200, 200, 200, 200, 200, 201,
    ]);
    expect(await eventsOf(id)).toEqual([]);
  });

  it('a push agent registers as ready with the command of its sessions', async () => {
    const command = ['node', 'a session, with a comma.js'];
    const id = await anId({ mode: 'push', command });
    const { body } = await workspace.api.get(`/agents/${id}`);
    expect(body).toMatchObject({ status: 'IDLE', mode: 'push', command });
    const kept = await workspace.api.put(`/agents/${id}`, { name: 'Renamed' });
    expect(kept.body).toMatchObject({ mode: 'push', command });
  });

  it('a push agent without a command, and a command from the agent itself, are refused', async () => {
    const without = await workspace.api.put(`/agents/${newId()}`, { name: 'N', mode: 'push' });
    expect(without).toMatchObject({ status: 400, body: { errors: [{ field: 'command' }] } });
    const id = await anId({ mode: 'push', command: ['node'] });
    const issued = await workspace.api.post<{ token: string }>(`/agents/${id}/token`, {});
    const authorization = `Bearer ${issued.body.token}`;
    const wanted = { name: 'N', command: ['sh'] };
    const answer = await workspace.api.put(`/agents/${id}`, wanted, { authorization });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('a registration revives a dead agent, and a draining one stays draining', async () => {
    for (const [lifecycle, status] of [
      ['ACTIVE', 'IDLE'],
      ['DRAINING', 'DRAINING'],
    ] as const) {
      const id = await anId();
      const transition = { workspaceId: workspace.id, agentId: id, reason: 'test' };
      const tenant = server.db.database.tenant(workspace.id);
      if (lifecycle === 'DRAINING')
        await transitionAgent(tenant, { ...transition, to: 'DRAINING' });
      await transitionAgent(tenant, { ...transition, to: 'ERROR' });
      const back = await workspace.api.put(`/agents/${id}`, { name: 'N' });
      expect(back.body).toMatchObject({ status, errorAt: null });
    }
  });

  it('a terminated agent cannot register', async () => {
    const { id } = await workspace.newAgent({ lifecycle: 'TERMINATED' });
    const answer = await workspace.api.put(`/agents/${id}`, { name: 'N' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'agent_terminated' } });
    const token = await workspace.api.post(`/agents/${id}/token`, {});
    expect(token).toMatchObject({ status: 409, body: { code: 'agent_terminated' } });
  });

  it('an agent can register itself and no other', async () => {
    const agent = await workspace.newAgent({ lifecycle: 'STARTING' });
    const neighbour = await workspace.newAgent();
    const mine = await agent.api.put(`/agents/${agent.id}`, { name: 'Me', pid: 7 });
    expect(mine).toMatchObject({ status: 200, body: { name: 'Me', pid: 7, status: 'IDLE' } });
    for (const id of [neighbour.id, newId()]) {
      expect((await agent.api.put(`/agents/${id}`, { name: 'X' })).status).toBe(404);
    }
    expect((await agent.api.get('/agents')).body.code).toBe('wrong_token_kind');
  });

  it('a registration needs the role MEMBER', async () => {
    const guarded = await server.newWorkspace('VIEWER');
    expect((await guarded.api.put(`/agents/${newId()}`, SEED_BODY)).status).toBe(403);
    expect((await guarded.api.get('/agents')).status).toBe(200);
  });

  it.each([
    ['name', {}],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\u0000b' }],
    ['mode', { name: 'N', mode: 'other' }],
    ['capabilities', { name: 'N', capabilities: ['a,b'] }],
    ['capabilities', { name: 'N', capabilities: 'a' }],
    ['maxConcurrentTasks', { name: 'N', maxConcurrentTasks: 0 }],
    ['maxConcurrentTasks', { name: 'N', maxConcurrentTasks: 1.5 }],
    ['staleThresholdSeconds', { name: 'N', staleThresholdSeconds: 30 }],
    [
      'staleThresholdSeconds',
      { name: 'N', heartbeatIntervalSeconds: 60, staleThresholdSeconds: 60 },
    ],
    ['pid', { name: 'N', pid: -1 }],
    ['metadata', { name: 'N', metadata: [] }],
    ['lifecycle', { name: 'N', lifecycle: 'ACTIVE' }],
  ])('a registration with a wrong %s is refused', async (field, body) => {
    const id = newId();
    const answer = await workspace.api.put(`/agents/${id}`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    const fields = (answer.body.errors as { field: string }[]).map((error) => error.field);
    expect(fields).toContain(field);
    expect(await lifecycleOf(id)).toBeUndefined();
  });
});

describe("another workspace's agent", () => {
  it("another workspace's agent is invisible and unchanged", async () => {
    const id = await anId();
    const before = (await workspace.api.get(`/agents/${id}`)).body;
    const answers = [
      await other.api.get(`/agents/${id}`),
      await other.api.get(`/agents/${id}/health`),
      await other.api.post(`/agents/${id}/token`, {}),
      await other.api.post(`/agents/${id}/token`, { rotate: true }),
      await other.api.delete(`/agents/${id}/token`),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'agent_not_found' } });
    }
    expect((await workspace.api.get(`/agents/${id}`)).body).toEqual(before);
    expect((await other.api.get('/agents')).body.items).toEqual([]);
  });

  it("an agent's id must be a UUID", async () => {
    for (const id of ['1', 'agent-1', '%00']) {
      expect((await workspace.api.get(`/agents/${id}`)).status).toBe(400);
      expect((await workspace.api.put(`/agents/${id}`, SEED_BODY)).status).toBe(400);
    }
  });
});

describe('the list', () => {
  it('the list combines all filters and pages by name', async () => {
    const { api, newAgent } = await server.newWorkspace();
    const names = ['b', 'a', 'C', 'a', 'ä%', 'zz'];
    for (const [i, name] of names.entries()) {
      await api.put(`/agents/${newId()}`, {
        name,
        capabilities: i % 2 ? ['x', 'y'] : ['x'],
        coordinatorEnabled: name !== 'zz',
        ...(name === 'C' ? { mode: 'push', command: ['node'] } : { mode: 'pull' }),
      });
    }
    await newAgent({ lifecycle: 'ERROR' });
    const list = async (query: string) => {
      const answer = await api.get<{ items: { name: string }[]; nextCursor: string | null }>(
        `/agents?${query}`,
      );
      expect(answer.status).toBe(200);
      return answer.body;
    };
    const namesOf = async (query: string) => (await list(query)).items.map(({ name }) => name);
    expect(await namesOf('status=STARTING')).toEqual(['a', 'a', 'b', 'zz', 'ä%']);
    expect(await namesOf('status=STARTING,IDLE&mode=push')).toEqual(['C']);
    expect(await namesOf('capability=x,y')).toEqual(['a', 'a', 'zz']);
    expect(await namesOf('capability=x&capability=y&coordinatorEnabled=true')).toEqual(['a', 'a']);
    expect(await namesOf('coordinatorEnabled=false')).toEqual(['zz']);
    expect(await namesOf('name=Ä%25')).toEqual(['ä%']);
    expect(await namesOf('name=%25')).toEqual(['ä%']);
    expect(await namesOf('status=ERROR')).toHaveLength(1);

    const seen: string[] = [];
    let cursor: string | null = '';
    do {
      const page = await list(`limit=2&status=STARTING,IDLE${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(...page.items.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(['C', 'a', 'a', 'b', 'zz', 'ä%']);
  });

  it.each(['status=BUSY', 'limit=0', 'cursor=x', 'cursor=WyJhIiwiYiJd', 'mode=x', 'page=2'])(
    'the list refuses %s',
    async (query) => expect((await workspace.api.get(`/agents?${query}`)).status).toBe(400),
  );
});

describe('the fleet', () => {
  type Slots = Record<string, { metadata: Record<string, unknown> }>;

  async function fleetOf(crew: TestWorkspace, query = ''): Promise<[Slots, string | null]> {
    const path = `/fleet${query}`;
    const { body } = await crew.api.get<{ workers: Slots; nextCursor: string | null }>(path);
    return [body.workers, body.nextCursor];
  }

  async function aSlot(crew: TestWorkspace, name: string, facts = {}): Promise<TestAgent> {
    const agent = await crew.newAgent();
    await crew.api.put(`/agents/${agent.id}`, { name, ...facts });
    return agent;
  }

  it('each agent is a slot: idle, working or offline', async () => {
    const crew = await server.newWorkspace();
    const working = await aSlot(crew, 'slot-1', { pid: 12_345, restartCount: 2 });
    const gone = await aSlot(crew, 'slot-2');
    const dead = await aSlot(crew, 'slot-3');
    await crew.api.post('/agent-tasks', { title: 'Review', taskType: 'test' });
    const claim = await working.api.post<{
      tasks: { run: { id: string }; task: { id: string } }[];
    }>(`/agents/${working.id}/claim`);
    const [{ run, task }] = claim.body.tasks as [{ run: { id: string }; task: { id: string } }];
    await gone.api.post(`/agents/${gone.id}/deregister`, { reason: 'drained' });
    const tenant = server.db.database.tenant(crew.id);
    const at = { workspaceId: crew.id, agentId: dead.id };
    await transitionAgent(tenant, { ...at, to: 'ERROR', reason: 'agent_stale' });
    const time = expect.any(Number);
    const none = {
      task: null,
      taskTitle: null,
      sessionId: null,
      lastUpdate: time,
      startedAt: time,
    };
    const process = { workerPid: null, workerVersion: null, restartCount: 0 };
    const offline = (slot: string, offlineReason: string) => {
      return { ...none, slot, status: 'offline', metadata: { ...process, offlineReason } };
    };
    expect(await fleetOf(crew)).toEqual([
      {
        'slot-1': {
          ...none,
          slot: 'slot-1',
          status: 'working',
          task: task.id,
          taskTitle: 'Review',
          sessionId: run.id,
          metadata: { ...process, workerPid: 12_345, restartCount: 2, taskStartedAt: time },
        },
        'slot-2': offline('slot-2', 'graceful-shutdown'),
        'slot-3': offline('slot-3', 'stale-heartbeat'),
      },
      null,
    ]);
  });

  it('a later agent takes the slot of its name, and a live namesake has its id', async () => {
    const crew = await server.newWorkspace();
    const drained = await aSlot(crew, 'slot');
    await drained.api.post(`/agents/${drained.id}/deregister`);
    const [first, second] = [await aSlot(crew, 'slot'), await aSlot(crew, 'slot')];
    expect(Object.keys((await fleetOf(crew))[0]).sort()).toEqual([first.id, 'slot'].sort());
    const [page, nextCursor] = await fleetOf(crew, '?limit=1');
    const [rest, end] = await fleetOf(crew, `?limit=1&cursor=${nextCursor}`);
    expect([...Object.keys(page), ...Object.keys(rest)].sort()).toEqual([first.id, 'slot'].sort());
    expect([second.id in page, end]).toEqual([false, null]);
  });
});

describe('tokens', () => {
  const heartbeats = async (id: string, token: string) =>
    (
      await apiClient(server.url, { authorization: `Bearer ${token}` }).post(
        `/agents/${id}/heartbeat`,
        { status: 'healthy' },
      )
    ).status;

  async function issue(id: string, body = {}): Promise<string> {
    const answer = await workspace.api.post(`/agents/${id}/token`, body);
    expect(answer.status).toBe(201);
    expect(Date.parse(String(answer.body.expiresAt))).toBeGreaterThan(Date.now());
    return String(answer.body.token);
  }

  it('several tokens of an agent are valid until they are rotated', async () => {
    const id = await anId();
    const [first, second] = [await issue(id), await issue(id, { expiresInSeconds: 60 })];
    expect([await heartbeats(id, first), await heartbeats(id, second)]).toEqual([200, 200]);
    const third = await issue(id, { rotate: true });
    expect([
      await heartbeats(id, first),
      await heartbeats(id, second),
      await heartbeats(id, third),
    ]).toEqual([401, 401, 200]);
  });

  it('revoked tokens are refused, and new ones can be issued', async () => {
    const id = await anId();
    const token = await issue(id);
    expect((await workspace.api.delete(`/agents/${id}/token`)).status).toBe(204);
    expect(await heartbeats(id, token)).toBe(401);
    expect(await heartbeats(id, await issue(id))).toBe(200);
  });

  it("an agent's token gives no access to other agents or people", async () => {
    const [id, neighbour] = [await anId(), await anId()];
    const token = await issue(id);
    expect(await heartbeats(neighbour, token)).toBe(404);
    const asAgent = apiClient(server.url, { authorization: `Bearer ${token}` });
    expect((await asAgent.post(`/agents/${id}/token`, {})).status).toBe(401);
    expect((await asAgent.get(`/agents/${neighbour}`)).status).toBe(404);
    expect(await asAgent.get(`/agents/${id}`)).toMatchObject({ status: 200, body: { id } });
    const user = server.tokens.issueUserToken({
      userId: workspace.userId,
      sessionId: newId(),
      workspaceId: workspace.id,
    });
    expect(await heartbeats(id, user.token)).toBe(401);
  });
});
