import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { aMember, aSessionOf } from '../../../../test/support/factories.js';
import { tablesWith } from '../../../../test/support/tables-with.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';

interface Row {
  id: string;
  version: number;
  archivedAt: string | null;
}

interface Page {
  items: Row[];
  nextCursor: string | null;
}

let app: TestServer;
let own: TestWorkspace;
let foreign: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer('all');
  own = await app.newWorkspace();
  foreign = await app.newWorkspace();
});

afterAll(() => app?.stop());

async function aProject(of = own): Promise<Row> {
  const { status, body } = await of.api.post<Row>('/projects', { name: 'A project' });
  expect(status).toBe(201);
  return body;
}

async function aMilestone(projectId: string, of = own): Promise<Row> {
  const path = `/projects/${projectId}/milestones`;
  const { status, body } = await of.api.post<Row>(path, { name: 'A milestone' });
  expect(status).toBe(201);
  return body;
}

describe('projects', () => {
  it('a project is created, read, changed and archived', async () => {
    const made = await own.api.post<Row>('/projects', { name: 'P', description: 'Why' });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
    const path = `/projects/${made.body.id}`;
    const changed = await own.api.patch(path, { description: null }, { 'if-match': '"1"' });
    expect(changed.body).toMatchObject({ name: 'P', description: null, version: 2 });
    const archived = await own.api.post<Row>(`${path}/archive`);
    expect(archived.body).toMatchObject({ version: 3, archivedAt: expect.any(String) });
    const again = await own.api.post<Row>(`${path}/archive`);
    expect(again.body).toEqual(archived.body);
    expect((await own.api.get(path)).body).toEqual(archived.body);
  });

  it('a project changes only under If-Match', async () => {
    const { id } = await aProject();
    const change = (version: number) =>
      own.api.patch(`/projects/${id}`, { name: 'Q' }, { 'if-match': `"${version}"` });
    const both = await Promise.all([change(1), change(1)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
    const archive = await own.api.post(`/projects/${id}/archive`, {}, { 'if-match': '"1"' });
    expect(archive).toMatchObject({ status: 412, body: { currentVersion: 2 } });
  });

  it('only admins allow the network, and every member can close it', async () => {
    const { id } = await aProject();
    const path = `/projects/${id}`;
    const userId = await aMember(app.db.owner, own.id, 'MEMBER');
    const sessionId = await aSessionOf(app.db.owner, userId);
    const { token } = app.tokens.issueUserToken({ userId, sessionId, workspaceId: own.id });
    const member = apiClient(app.url, { authorization: `Bearer ${token}` });
    expect((await member.patch(path, { network: 'host' })).body).toMatchObject({
      code: 'forbidden',
      detail: 'Only an OWNER or ADMIN allows the network.',
    });
    expect((await own.api.get(path)).body).toMatchObject({ network: 'none' });
    expect((await own.api.patch(path, { network: 'host' })).body).toMatchObject({
      network: 'host',
    });
    for (const change of [{ network: 'allow' }, { allowedHosts: ['example.com'] }]) {
      expect((await member.patch(path, change)).body).toMatchObject({ code: 'forbidden' });
    }
    expect((await member.patch(path, { allowedModels: ['*'] })).body).toMatchObject({
      code: 'forbidden',
      detail: 'Only an OWNER or ADMIN allows models.',
    });
    expect((await member.patch(path, { mcpServers: [] })).body).toMatchObject({
      code: 'forbidden',
      detail: 'Only an OWNER or ADMIN sets MCP servers.',
    });
    expect((await member.patch(path, { network: 'none' })).body).toMatchObject({
      network: 'none',
    });
  });

  it('a project keeps its allowed hosts, and refuses malformed ones', async () => {
    const path = `/projects/${(await aProject()).id}`;
    const allowedHosts = ['example.com', '*.example.org:8443', '*:*'];
    const changed = await own.api.patch(path, { network: 'allow', allowedHosts });
    expect(changed.body).toMatchObject({ network: 'allow', allowedHosts });
    for (const wrong of [['https://a.b'], ['A.b'], [''], [null], 'a.b', Array(101).fill('a.b')]) {
      const refused = await own.api.patch(path, { allowedHosts: wrong });
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ field: 'allowedHosts' }] } });
    }
    expect((await own.api.get(path)).body).toMatchObject({ network: 'allow', allowedHosts });
  });

  it('texts that grow because a secret is hidden are cut', async () => {
    const grown = (length: number) => `${'x'.repeat(length - 14)} password=abcd`;
    const { status, body } = await own.api.post<Row>('/projects', { name: grown(200) });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ name: expect.stringMatching(/^x{186} password=\[r[^]*$/) }),
    ]);
    const path = `/projects/${body.id}`;
    const changed = await own.api.patch<Row>(path, { instructions: grown(20_000) });
    expect(changed).toMatchObject({ status: 200 });
    expect(JSON.stringify(changed.body)).not.toContain('abcd');
    const milestone = await own.api.post(`${path}/milestones`, { name: grown(200) });
    expect(milestone).toMatchObject({ status: 201 });
  });

  it.each(['projects', 'milestones'])(
    '%s that are archived twice at once keep the first time',
    async (what) => {
      const project = await aProject();
      const row = what === 'projects' ? project : await aMilestone(project.id);
      const holder = await app.db.owner.connect();
      try {
        await holder.query('BEGIN');
        await holder.query(`SELECT FROM ${what} WHERE id = $1 FOR UPDATE`, [row.id]);
        const archives = Promise.all(
          [1, 2].map(() => own.api.post<Row>(`/${what}/${row.id}/archive`)),
        );
        await waitFor('both to wait for the row', async () => {
          const { rowCount } = await app.db.owner.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock' AND query LIKE '%${what}%'`,
          );
          return rowCount === 2;
        });
        await holder.query('COMMIT');
        const [first, second] = await archives;
        expect(first).toMatchObject({ status: 200, body: { version: 2 } });
        expect(second?.body).toEqual(first?.body);
      } finally {
        holder.release(true);
      }
    },
  );

  it('the answer to a creation is kept with it, so that a repetition creates none', async () => {
    const key = { 'idempotency-key': newId() };
    const made = await own.api.post<Row>('/projects', { name: 'Once' }, key);
    const again = await own.api.post<Row>('/projects', { name: 'Once' }, key);
    expect(again.body).toEqual(made.body);
    const milestoneKey = { 'idempotency-key': newId() };
    const path = `/projects/${made.body.id}/milestones`;
    const milestone = await own.api.post<Row>(path, { name: 'Once' }, milestoneKey);
    const kept = async (table: string, id: string) =>
      (
        await app.db.owner.query(
          `SELECT k.response_body FROM ${table} p JOIN idempotency_keys k
             ON k.workspace_id = p.workspace_id AND k.xmin::text = p.xmin::text
           WHERE p.id = $1 AND k.status_code = 201`,
          [id],
        )
      ).rows;
    // A server can die after the commit: the answer is a part of it.
    expect(await kept('projects', made.body.id)).toEqual([{ response_body: made.body }]);
    expect(await kept('milestones', milestone.body.id)).toEqual([
      { response_body: milestone.body },
    ]);
  });

  it('a project keeps instructions without secrets until they are removed', async () => {
    const path = `/projects/${(await aProject()).id}`;
    const secret = `ghp_${'a1'.repeat(18)}`;
    const changed = await own.api.patch(path, { instructions: `Use ISO weeks, ${secret}.` });
    expect(changed.body).toMatchObject({ instructions: 'Use ISO weeks, [redacted].' });
    for (const instructions of ['', ' ', 'x'.repeat(20_001), 7]) {
      const refused = await own.api.patch(path, { instructions });
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ field: 'instructions' }] } });
    }
    expect((await own.api.patch(path, { name: 'Q' })).body).toMatchObject({
      instructions: 'Use ISO weeks, [redacted].',
    });
    const removed = await own.api.patch(path, { instructions: null });
    expect(removed.body).toMatchObject({ instructions: null });
  });

  describe('the MCP servers of a project', () => {
    const TOKEN = 'the-token-of-issues';
    const issues = { name: 'issues', url: 'https://mcp.example.com/mcp' };
    const files = { name: 'files', command: 'files-server', args: ['--root', '$HOME'] };
    const shownIssues = { ...issues, headers: { Authorization: '[redacted]' } };

    it('the values of variables and headers are never shown', async () => {
      const path = `/projects/${(await aProject()).id}`;
      expect((await own.api.get(path)).body).toMatchObject({ mcpServers: [] });
      const mcpServers = [
        { ...issues, headers: { Authorization: `Bearer ${TOKEN}` } },
        { ...files, env: { MODE: 'fast', TOKEN } },
        { name: 'plain', command: 'plain' },
      ];
      const shown = [
        shownIssues,
        { ...files, env: { MODE: '[redacted]', TOKEN: '[redacted]' } },
        { name: 'plain', command: 'plain', args: [], env: {} },
      ];
      expect((await own.api.patch<Row>(path, { mcpServers })).body).toMatchObject({
        mcpServers: shown,
        version: 2,
      });
      expect((await own.api.get(path)).body).toMatchObject({ mcpServers: shown });
      expect(await tablesWith(app, TOKEN)).toEqual([]);
      const renamed = await own.api.patch(path, { name: 'Q' });
      expect(renamed.body).toMatchObject({ mcpServers: shown });
      expect((await own.api.patch(path, { mcpServers: [] })).body).toMatchObject({
        mcpServers: [],
      });
      const count = 'SELECT FROM project_secrets WHERE workspace_id = $1';
      expect((await app.db.owner.query(count, [own.id])).rowCount).toBe(0);
    });

    it('a hidden value stays with its server, and goes to no other', async () => {
      const path = `/projects/${(await aProject()).id}`;
      const first = { ...issues, headers: { Authorization: TOKEN } };
      await own.api.patch(path, { mcpServers: [first] });
      const more = { name: 'more', url: 'https://more.example.com' };
      const kept = await own.api.patch(path, { mcpServers: [more, shownIssues] });
      expect(kept.body).toMatchObject({ mcpServers: [{ ...more, headers: {} }, shownIssues] });
      for (const mcpServers of [
        [{ ...shownIssues, url: 'https://elsewhere.example.com' }],
        [{ ...shownIssues, headers: { 'X-Other': '[redacted]' } }],
      ]) {
        const [name] = Object.keys(mcpServers[0]!.headers);
        expect(await own.api.patch(path, { mcpServers })).toMatchObject({
          status: 400,
          body: { errors: [{ field: `mcpServers[0].headers.${name}` }] },
        });
      }
    });

    it.each([
      [[{ ...issues, name: 'drover' }], '[0].name'],
      [[{ ...issues, name: 'Issues' }], '[0].name'],
      [[{ ...issues, name: 'my_issues' }], '[0].name'],
      [[issues, issues], '[1].name'],
      [[{ name: 'none' }], '[0].command'],
      [[{ ...issues, ...files }], '[0].command'],
      [[{ ...issues, env: {} }], '[0].env'],
      [[{ ...files, headers: {} }], '[0].headers'],
      [[{ ...files, env: { PATH: '/x' } }], '[0].env'],
      [[{ ...issues, headers: { 'a b': 'x' } }], '[0].headers'],
      [[{ ...issues, headers: { A: 'x\ny' } }], '[0].headers'],
      [[{ ...issues, url: 'ftp://example.com' }], '[0].url'],
      [[{ ...issues, url: 'https://a:b@example.com' }], '[0].url'],
      [[{ ...issues, url: `https://example.com/?key=ghp_${'a1'.repeat(18)}` }], '[0].url'],
      [[{ ...files, args: ['--token', 'hunter2'] }], '[0].args'],
      [Array.from({ length: 21 }, (_, index) => ({ ...files, name: `a${index}` })), ''],
      [
        Array.from({ length: 20 }, (_, i) => ({
          ...files,
          name: `a${i}`,
          args: ['x'.repeat(4_000), 'x'.repeat(4_000)],
        })),
        '',
      ],
    ])('malformed ones are refused: %j', async (mcpServers, field) => {
      const path = `/projects/${(await aProject()).id}`;
      const refused = await own.api.patch(path, { mcpServers });
      const errors = [{ field: `mcpServers${field}` }];
      expect(refused).toMatchObject({ status: 400, body: { errors } });
      expect((await own.api.get(path)).body).toMatchObject({ mcpServers: [], version: 1 });
    });
  });

  it('a project keeps its allowed models, and refuses malformed ones', async () => {
    const path = `/projects/${(await aProject()).id}`;
    expect((await own.api.get(path)).body).toMatchObject({ allowedModels: ['*'] });
    const allowedModels = ['claude-*-4-6', 'openai/gpt-5.5:2'];
    expect((await own.api.patch(path, { allowedModels })).body).toMatchObject({ allowedModels });
    for (const wrong of [['gpt 5'], [''], [null], 'gpt-5', null, Array(51).fill('gpt-5')]) {
      const refused = await own.api.patch(path, { allowedModels: wrong });
      expect(refused).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'allowedModels' }] },
      });
    }
    expect((await own.api.get(path)).body).toMatchObject({ allowedModels });
    expect((await own.api.patch(path, { allowedModels: [] })).body).toMatchObject({
      allowedModels: [],
    });
  });

  it('an Idempotency-Key creates one project', async () => {
    const key = { 'idempotency-key': newId() };
    const first = await own.api.post<Row>('/projects', { name: 'Once' }, key);
    const second = await own.api.post<Row>('/projects', { name: 'Once' }, key);
    expect(second.body.id).toBe(first.body.id);
  });

  it('projects come in pages, archived or not', async () => {
    const fresh = await app.newWorkspace();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await aProject(fresh)).id);
    await fresh.api.post(`/projects/${made[1]}/archive`);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`;
      const { body }: { body: Page } = await fresh.api.get<Page>(`/projects?limit=2${next}`);
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(made);
    const live = await fresh.api.get<Page>('/projects?archived=false');
    expect(live.body.items.map(({ id }) => id)).toEqual(made.filter((id) => id !== made[1]));
    const archived = await fresh.api.get<Page>('/projects?archived=true');
    expect(archived.body.items.map(({ id }) => id)).toEqual([made[1]]);
  });

  it.each<[string, object, string]>([
    ['no name', {}, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a long name', { name: 'x'.repeat(201) }, 'name'],
    ['a NUL', { name: 'a\0b' }, 'name'],
    ['a lone surrogate', { name: '\ud800' }, 'name'],
    ['a number', { name: 7 }, 'name'],
    ['an unknown field', { name: 'x', workspaceId: newId() }, 'workspaceId'],
  ])('a project is not created with %s', async (_, body, field) => {
    const answer = await own.api.post<{ errors: { field: string }[] }>('/projects', body);
    expect([answer.status, answer.body.errors.map((error) => error.field)]).toEqual([400, [field]]);
  });

  it('members create projects, and viewers read them', async () => {
    const { id } = await aProject();
    const viewer = await app.newWorkspace('VIEWER');
    expect((await viewer.api.post('/projects', { name: 'P' })).status).toBe(403);
    expect((await viewer.api.get('/projects')).status).toBe(200);
    expect((await viewer.api.get(`/projects/${id}`)).status).toBe(404);
  });
});

describe('milestones', () => {
  it('a milestone is created, read, changed and archived', async () => {
    const project = await aProject();
    const path = `/projects/${project.id}/milestones`;
    const dueAt = '2027-01-31T12:00:00+01:00';
    const made = await own.api.post<Row>(path, { name: 'M', dueAt });
    expect(made.body).toMatchObject({ projectId: project.id, dueAt: '2027-01-31T11:00:00.000Z' });
    const one = `/milestones/${made.body.id}`;
    expect((await own.api.patch(one, { name: 'N' })).body).toMatchObject({
      name: 'N',
      dueAt: '2027-01-31T11:00:00.000Z',
    });
    expect((await own.api.patch(one, { dueAt: null })).body).toMatchObject({ dueAt: null });
    expect((await own.api.post(`${one}/archive`)).status).toBe(200);
    const list = await own.api.get<Page>(`${path}?archived=true`);
    expect(list.body.items).toMatchObject([{ id: made.body.id, version: 4 }]);
  });

  it('a milestone needs a valid date', async () => {
    const { id } = await aProject();
    const path = `/projects/${id}/milestones`;
    for (const dueAt of ['tomorrow', '2027-01-31', 7]) {
      expect((await own.api.post(path, { name: 'M', dueAt })).status).toBe(400);
    }
  });
});

describe('an object of another workspace', () => {
  it('an object of another workspace is invisible and unchanged', async () => {
    const project = await aProject(foreign);
    const milestone = await aMilestone(project.id, foreign);
    const answers = [
      await own.api.get(`/projects/${project.id}`),
      await own.api.patch(`/projects/${project.id}`, { name: 'mine' }),
      await own.api.patch(`/projects/${project.id}`, { name: 'mine' }, { 'if-match': '"1"' }),
      await own.api.post(`/projects/${project.id}/archive`),
      await own.api.post(`/projects/${project.id}/milestones`, { name: 'mine' }),
      await own.api.get(`/projects/${project.id}/milestones`),
      await own.api.get(`/milestones/${milestone.id}`),
      await own.api.patch(`/milestones/${milestone.id}`, { name: 'mine' }),
      await own.api.post(`/milestones/${milestone.id}/archive`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect((await foreign.api.get(`/projects/${project.id}`)).body).toEqual(project);
    expect((await foreign.api.get(`/milestones/${milestone.id}`)).body).toEqual(milestone);
  });
});
