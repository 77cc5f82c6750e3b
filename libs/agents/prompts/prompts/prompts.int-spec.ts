import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { newId } from '#lib/kernel';
import { apiClient } from '../../../../test/support/api-client.js';
import { type Held, Scene } from '../../../work/coordinator/testing/scene.js';

type Body = Record<string, unknown>;
const CODEX = { agent: { kind: 'codex' }, instructions: 'Mend it.' };

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

const preview = (id: string, body: Body = {}) =>
  scene.workspace.api.post<Body & { prompt: string }>(`/agent-tasks/${id}/prompt`, body);
const take = ({ agent, runId }: Held, body?: Body) =>
  agent.api.post<Body & { prompt: string }>(`/runs/${runId}/prompt`, body);
const kept = ({ runId }: Pick<Held, 'runId'>) =>
  scene.workspace.api.get<Body>(`/runs/${runId}/prompt`);
const log = async ({ agent, runId }: Held, entries: Body[]): Promise<void> => {
  const { status } = await agent.api.post(`/runs/${runId}/logs`, { entries });
  expect(status).toBe(202);
};
async function nextRun({ agent, runId, id }: Held): Promise<Held> {
  await agent.api.post(`/runs/${runId}/release`, { reason: 'drain' });
  await scene.workspace.api.post(`/agent-tasks/${id}/retry`, {});
  return scene.claim(agent, id);
}
/** The entries of a finished call, as a worker writes them. */
const called = (call: unknown, command: string, output = 'ok') => [
  { event: 'agent_tool', message: command, details: { call, tool: 'shell', input: command } },
  { event: 'agent_tool_result', level: 'DEBUG', message: output, details: { call } },
];
const setTemplate = (template: string) =>
  scene.workspace.api.put<Body>('/prompt-template', { template });

describe('the prompt of a run', () => {
  it('the preview, the prompt and the kept prompt are the same', async () => {
    const run = await scene.held({ ...CODEX, steps: ['Read'] });
    const previewed = await preview(run.id);
    expect(previewed).toMatchObject({ status: 200, body: { taskId: run.id } });
    expect(previewed.body.prompt).toContain('## Instructions\n\nMend it.\n\n## Steps\n\n1. Read');
    expect(await kept(run)).toMatchObject({ status: 404, body: { code: 'prompt_not_found' } });
    const { prompt } = previewed.body;
    expect(await take(run)).toMatchObject({ status: 200, body: { prompt, runId: run.runId } });
    const own = apiClient(server.url, { authorization: `Bearer ${run.runToken}` });
    expect(await own.post(`/runs/${run.runId}/prompt`)).toMatchObject({ body: { prompt } });
    expect(await kept(run)).toMatchObject({ status: 200, body: { prompt, taskId: run.id } });
  });

  it('it comes with the instructions of the project', async () => {
    const { body: project } = await scene.workspace.api.post<Body>('/projects', { name: 'Weeks' });
    const run = await scene.held({ ...CODEX, projectId: project['id'] });
    expect((await take(run)).body).toMatchObject({ instructions: null });
    const instructions = 'Use ISO weeks.';
    await scene.workspace.api.patch(`/projects/${String(project['id'])}`, { instructions });
    const { prompt, ...taken } = (await take(run)).body;
    expect(taken).toMatchObject({ instructions });
    expect(prompt).not.toContain(instructions);
  });

  it('it comes with the MCP servers of the project, whose secrets nobody else sees', async () => {
    const { body: project } = await scene.workspace.api.post<Body>('/projects', { name: 'Weeks' });
    const run = await scene.held({ ...CODEX, projectId: project['id'] });
    expect((await take(run)).body).toMatchObject({ mcpServers: [] });
    const Authorization = 'Bearer wintergreen-4711';
    const issues = { name: 'issues', url: 'https://mcp.example.com', headers: { Authorization } };
    const path = `/projects/${String(project['id'])}`;
    expect((await scene.workspace.api.patch(path, { mcpServers: [issues] })).status).toBe(200);
    expect((await take(run)).body).toMatchObject({ mcpServers: [issues] });
    const own = apiClient(server.url, { authorization: `Bearer ${run.runToken}` });
    const ofRun = await own.post<Body>(`/runs/${run.runId}/prompt`);
    expect(ofRun).toMatchObject({ status: 200, body: { mcpServers: [] } });
    await log(run, [{ event: 'agent_tool_result', message: `It sent ${Authorization}.` }]);
    const { body } = await scene.workspace.api.get<{ items: Body[] }>(
      `/agent-tasks/${run.id}/logs`,
    );
    expect(JSON.stringify(body)).toContain('It sent [redacted].');
    expect(JSON.stringify([body, (await kept(run)).body])).not.toContain('wintergreen');
  });

  it('it tells dependencies, the earlier run, its checkpoint and unheard messages', async () => {
    const before = await scene.held({ title: 'Find the fault' });
    await before.agent.api.post(`/runs/${before.runId}/complete`, {
      summary: 'It is in line 7.',
      outputResult: { line: 7 },
    });
    const run = await scene.held({ ...CODEX, dependsOn: [before.id] });
    const sent = { text: 'Use ISO weeks, too.', deliver: 'turn_end' };
    expect((await scene.workspace.api.post(`/runs/${run.runId}/messages`, sent)).status).toBe(201);
    await log(run, [{ event: 'agent_message', message: 'I read the file.' }]);
    const checkpointData = { page: 7 };
    const error = { message: 'The disk is full', class: 'disk' };
    await run.agent.api.post(`/runs/${run.runId}/fail`, { error, checkpointData });

    const { prompt } = (await preview(run.id)).body;
    for (const part of [
      '### Find the fault (COMPLETED)\n\nIt is in line 7.\n\n```json\n{"line": 7}\n```',
      /- Run 1 ended at .*: \w+; disk: The disk is full/,
      '## Checkpoint of the earlier run\n\n```json\n{\n  "page": 7\n}\n```',
      '## Messages of people\n\nUse ISO weeks, too.',
      /## End of the earlier conversation[^]*\n\nI read the file\./,
    ]) {
      expect(prompt).toEqual(
        expect[typeof part === 'string' ? 'stringContaining' : 'stringMatching'](part as string),
      );
    }
  });

  it('a program that resumes its conversation gets the news only', async () => {
    const run = await scene.held(CODEX);
    await setTemplate('Do it: {{instructions}}');
    const { body } = await take(run, { conversation: 'resumed', lostFiles: ['big.bin'] });
    expect(body.prompt).toMatch(/^Your session was interrupted\.[^]*- "big\.bin"$/);
    expect((await kept(run)).body['prompt']).toBe(body.prompt);
    expect((await take(run, { conversation: 'continued' })).body.prompt).toBe('Do it: Mend it.');
    const refused = await take(run, { conversation: 'old' });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ field: 'conversation' }] } });
  });

  it('a resumed conversation hears of the tool calls that the log has after it', async () => {
    const run = await scene.held({ ...CODEX, secrets: { TOKEN: 'hunter2-hunter2' } });
    await log(run, [...called(1, 'first'), ...called(2, 'second hunter2-hunter2')]);
    // Some programs tell no input beside the title.
    const details = { call: 3, tool: 'shell', input: '{}' };
    await log(run, [{ event: 'agent_tool', message: 'third', details }]);
    const next = await nextRun(run);
    const told = async (by: Held, upTo?: Body) => {
      const { status, body } = await take(by, { conversation: 'resumed', upTo });
      expect(status).toBe(200);
      return body.prompt.match(/(?<=^- ).*|(?<=Call: ).*/gm);
    };
    const last = ['done, with "ok"', 'shell second [redacted]', 'may have happened', 'shell third'];
    expect(await told(next, { runId: run.runId, calls: 1 })).toEqual(last);
    expect(await told(next, { runId: run.runId, calls: 3 })).toBeNull();
    const all = ['done, with "ok"', 'shell first', ...last];
    expect(await told(next)).toEqual(all);
    // A run of another task tells nothing, and entries of other agents can have any details.
    const other = await scene.held(CODEX);
    await log(other, [
      ...called({ a: [1.5] }, 'other'),
      ...called('x', 'other'),
      ...called(1e99, 'x'),
    ]);
    expect(await told(next, { runId: other.runId, calls: 1 })).toEqual(all);
    expect(await told(other, { runId: other.runId, calls: 9 })).toEqual(expect.anything());

    await log(next, called(1, 'fourth'));
    const third = await nextRun(next);
    const fourth = ['done, with "ok"', 'shell fourth'];
    expect(await told(third, { runId: run.runId, calls: 2 })).toEqual([
      ...last.slice(2),
      ...fourth,
    ]);
    expect(await told(third, { runId: next.runId, calls: 0 })).toEqual(fourth);
    for (const upTo of [{ runId: 'x', calls: 1 }, { runId: run.runId, calls: -1 }, 7]) {
      expect(await take(third, { upTo })).toMatchObject({ status: 400 });
    }
  });

  it('a resumed conversation hears again of the messages that it may lack', async () => {
    const send = async ({ runId }: Held, text: string) => {
      const body = { text, deliver: 'turn_end', ...(text === 'second' && { type: 'hint' }) };
      const { status } = await scene.workspace.api.post(`/runs/${runId}/messages`, body);
      expect(status).toBe(201);
    };
    const first = await scene.held(CODEX);
    for (const text of ['first', 'second', 'never heard']) await send(first, text);
    const heard = (by: Held, positions: number[]) =>
      by.agent.api.post(`/runs/${by.runId}/messages/delivered`, { positions });
    expect((await heard(first, [1, 2])).status).toBe(200);
    const next = await nextRun(first);
    const messagesIn = async (by: Held, start: Body = {}) =>
      /## Messages of people\n\n([^#]*)/.exec((await take(by, start)).body.prompt)?.[1]?.trim();
    const again = (text: string) => `Your conversation may have this message already:\n\n${text}`;
    const resumed = (upTo?: Body) => ({ conversation: 'resumed', upTo });
    const all = [again('first'), again('[hint] second'), 'never heard'].join('\n\n');
    expect(await messagesIn(next, resumed())).toBe(all);
    expect(await messagesIn(next, resumed({ runId: first.runId, calls: 0 }))).toBe(all);
    const upTo = { runId: first.runId, calls: 0, messages: 1 };
    expect(await messagesIn(next, resumed(upTo))).toBe(all.slice(again('first').length + 2));
    expect(await messagesIn(next, resumed({ ...upTo, messages: 2 }))).toBe('never heard');
    const { prompt } = (await take(next)).body;
    expect(prompt).toMatch(
      /Messages of people\n\nnever heard\n\n[^]*\[person\] first\n\[person\] second/,
    );

    await send(next, 'third');
    expect((await heard(next, [1])).status).toBe(200);
    const third = await nextRun(next);
    expect(await messagesIn(third, resumed({ ...upTo, messages: 2 }))).toBe(
      `never heard\n\n${again('third')}`,
    );
    expect(await take(third, resumed({ ...upTo, messages: -1 }))).toMatchObject({ status: 400 });
  });

  it('it comes with the attachments of messages to earlier runs', async () => {
    const ids = Array.from({ length: 22 }, () => newId());
    const run = await scene.held(CODEX);
    const sent = [...ids, 'no id', ids[0]].map((attachments) => ({ data: { attachments } }));
    for (const { data } of [...sent, { data: null }]) {
      const body = { text: 'See.', deliver: 'turn_end', ...(data && { data }) };
      const { status } = await scene.workspace.api.post(`/runs/${run.runId}/messages`, body);
      expect(status).toBe(201);
    }
    const latest = [ids[0], ...ids.slice(3).reverse()];
    expect((await take(await nextRun(run))).body['attachments']).toEqual(latest);
  });

  it('it has no secret, wherever the secret stands', async () => {
    const run = await scene.held({
      ...CODEX,
      instructions: 'The word is hunter2-hunter2.',
      inputContext: { password: 'open-sesame-1', note: 'hunter2-hunter2' },
      secrets: { TOKEN: 'hunter2-hunter2' },
    });
    await setTemplate('{{title}} hunter2-hunter2 {{instructions}} {{input}}');
    for (const { body } of [await preview(run.id), await take(run), await kept(run)]) {
      expect(JSON.stringify(body)).toContain('[redacted]');
      expect(JSON.stringify(body)).not.toMatch(/hunter2-hunter2|open-sesame-1/);
    }
    await setTemplate('x');
  });

  it('only the agent of the live run receives it', async () => {
    const [run, other] = [await scene.held(CODEX), await scene.held(CODEX)];
    const refused = await take({ ...other, runId: run.runId });
    expect(refused).toMatchObject({ status: 404, body: { code: 'run_not_found' } });
    await run.agent.api.post(`/runs/${run.runId}/complete`, {});
    expect(await take(run)).toMatchObject({ status: 409, body: { code: 'stale_run' } });
    expect(await kept(run)).toMatchObject({ status: 404, body: { code: 'prompt_not_found' } });
  });

  it('another workspace finds no prompt', async () => {
    const run = await scene.held(CODEX);
    await take(run);
    const { api } = await server.newWorkspace();
    expect((await api.get(`/runs/${run.runId}/prompt`)).status).toBe(404);
    expect((await api.post(`/agent-tasks/${run.id}/prompt`, {})).status).toBe(404);
  });
});

describe('the template of a workspace', () => {
  it('it applies to the next run, to no other workspace, and can be reset', async () => {
    const run = await scene.held(CODEX);
    const before = await scene.workspace.api.get<Body>('/prompt-template');
    expect(before.body).toMatchObject({ source: 'default', updatedAt: null });
    const set = await setTemplate('Do it: {{instructions}}');
    expect(set).toMatchObject({ status: 200, body: { source: 'workspace' } });
    expect((await take(run)).body.prompt).toBe('Do it: Mend it.');
    const other = await Scene.of(server);
    expect((await other.workspace.api.get<Body>('/prompt-template')).body).toEqual(before.body);
    for (let times = 0; times < 2; times += 1) {
      expect((await scene.workspace.api.delete('/prompt-template')).status).toBe(204);
    }
    expect((await scene.workspace.api.get<Body>('/prompt-template')).body).toEqual(before.body);
    expect((await kept(run)).body['prompt']).toBe('Do it: Mend it.');
  });

  it('a change or a reset with the version of an earlier template gets 412', async () => {
    const { api } = scene.workspace;
    const put = (template: string, version: unknown) =>
      api.put<Body>('/prompt-template', { template }, { 'if-match': `"${String(version)}"` });
    const read = await api.get<Body>('/prompt-template');
    expect([read.headers.get('etag'), read.body['version']]).toEqual(['"0"', 0]);
    const first = await put('One: {{title}}', 0);
    expect(await put('Lost: {{title}}', 0)).toMatchObject({
      status: 412,
      body: { code: 'version_mismatch', currentVersion: first.body['version'] },
    });
    expect((await put('Two: {{title}}', first.body['version'])).status).toBe(200);
    const stale = { 'if-match': `"${String(first.body['version'])}"` };
    expect((await api.delete('/prompt-template', stale)).status).toBe(412);
    expect((await api.delete('/prompt-template')).status).toBe(204);
    expect((await api.delete('/prompt-template', stale)).status).toBe(412);
    expect((await put('Three: {{title}}', 0)).status).toBe(200);
    expect((await put('Lost: {{title}}', first.body['version'])).status).toBe(412);
    expect((await api.get<Body>('/prompt-template')).body['template']).toBe('Three: {{title}}');
  });

  it('a preview tries a template that is not set', async () => {
    const id = await scene.task(CODEX);
    const tried = await preview(id, { template: 'Try: {{title}}' });
    expect(tried.body.prompt).toBe('Try: A task');
    expect((await preview(id)).body.prompt).toContain('# A task');
  });

  it.each([
    ['{{nobody}}', 'has the unknown placeholder "nobody"; use title'],
    ['{{#title}}', 'cannot be read: Unclosed section'],
    ['x'.repeat(20_001), 'must be a string of 1 to 20000 characters'],
  ])('%.20s is refused, and nothing changes', async (template, why) => {
    const id = await scene.task(CODEX);
    for (const refused of [await setTemplate(template), await preview(id, { template })]) {
      const [error] = refused.body['errors'] as { field: string; message: string }[];
      expect([refused.status, error?.field]).toEqual([400, 'template']);
      expect(error?.message).toContain(why);
    }
    const { body } = await scene.workspace.api.get<Body>('/prompt-template');
    expect(body['source']).toBe('default');
  });
});
