import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sharedServer, type TestServer } from '../../../../test/support/shared-server.js';
import { type Held, Scene } from '../../coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await sharedServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

type Body = Record<string, unknown>;
const SECRET = 'hunter2-hunter2';
const SECRETS = { TOKEN: SECRET, PHRASE: 'correct horse battery staple', PIN: '482-913' };
const TEXT = 'Now add a test for week 53.';

const held = (values: Body = {}) =>
  scene.held({
    agent: { kind: 'codex', model: 'gpt-5.5', settings: { permissions: [] } },
    title: 'Mend the parser',
    instructions: 'ISO weeks fail.',
    tags: ['parser'],
    secrets: SECRETS,
    inputContext: { file: 'weeks.ts' },
    ...values,
  });
const goOn = (id: string, body: Body = { text: TEXT }, headers: Record<string, string> = {}) =>
  scene.workspace.api.post<Body>(`/agent-tasks/${id}/continue`, body, headers);
const report = ({ agent, runId }: Held, path: string, body: Body = {}) =>
  agent.api.post(`/runs/${runId}/${path}`, body);

it('a completed task continues in a new one, with its agent, secrets and conversation', async () => {
  const run = await held();
  const entries = [{ event: 'agent_message', message: 'I read weeks.ts.' }];
  await report(run, 'logs', { entries });
  await run.agent.api.put(`/runs/${run.runId}/checkpoint`, { checkpointData: { page: 7 } });
  await report(run, 'complete', { summary: 'Mended.' });
  const { status, body } = await goOn(run.id);
  expect(status).toBe(201);
  const expected = {
    continuesId: run.id,
    title: TEXT,
    instructions: TEXT,
    status: 'PENDING',
    agent: { kind: 'codex', model: 'gpt-5.5' },
    tags: ['parser'],
    inputContext: { file: 'weeks.ts' },
    secrets: { TOKEN: '[redacted]', PHRASE: '[redacted]', PIN: '[redacted]' },
    checkpointData: { page: 7 },
  };
  expect(body).toMatchObject(expected);
  const id = String(body['id']);
  expect(await scene.read(id)).toMatchObject(expected);
  expect(await scene.read(run.id)).toMatchObject({ status: 'COMPLETED', continuesId: null });

  const attachments = '0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
  const { body: more } = await goOn(run.id, { text: TEXT, attachments });
  expect(more).toMatchObject({ inputContext: { file: 'weeks.ts', attachments } });
  await scene.workspace.api.post(`/agent-tasks/${String(more['id'])}/cancel`, {});
  expect(await goOn(run.id, { text: TEXT, attachments: 'x' })).toMatchObject({ status: 400 });

  const { body: claim } = await run.agent.api.post<{ tasks: { task: Body }[] }>(
    `/agents/${run.agent.id}/claim`,
  );
  expect(claim.tasks.map(({ task }) => task)).toMatchObject([
    { id, instructions: TEXT, secrets: SECRETS, continuesId: run.id },
  ]);
  const { body: previewed } = await scene.workspace.api.post<{ prompt: string }>(
    `/agent-tasks/${id}/prompt`,
    {},
  );
  expect(previewed.prompt).toMatch(
    /worked on "Mend the parser" before\. [^]*Now add a test for week 53[^]*\n\nI read weeks\.ts\./,
  );
});

it('a failed task without a conversation continues, and so does its successor', async () => {
  const run = await held();
  await report(run, 'fail', { error: { message: 'It crashed', retryable: false } });
  const first = String((await goOn(run.id)).body['id']);
  const second = await scene.claim(run.agent, first);
  await report(second, 'complete', { summary: 'Test added.' });
  const { body } = await goOn(first);
  expect(body).toMatchObject({ continuesId: first });
});

it('the answer of a continuation is kept with its task, so that a repetition creates none', async () => {
  const run = await held();
  await report(run, 'complete');
  const key = { 'idempotency-key': 'continue-once' };
  const { body } = await goOn(run.id, { text: TEXT }, key);
  expect((await goOn(run.id, { text: TEXT }, key)).body).toEqual(body);
  // A server can die after the commit: the answer is a part of it.
  const { rows } = await scene.sql(
    `SELECT t.id, k.response_body ->> 'continuesId' AS continues FROM agent_tasks t
     JOIN idempotency_keys k ON k.workspace_id = t.workspace_id AND k.xmin::text = t.xmin::text
     WHERE t.workspace_id = $1 AND t.continues_id = $2 AND k.status_code = 201`,
    scene.id,
    run.id,
  );
  expect(rows).toEqual([{ id: body['id'], continues: run.id }]);
});

it('the run of a continuation receives the secrets of the checkpoint, and nobody sees them', async () => {
  const run = await held();
  const checkpointData = { session: { token: 'of-the-session' }, at: `after ${SECRET}` };
  await run.agent.api.put(`/runs/${run.runId}/checkpoint`, { checkpointData });
  await report(run, 'complete');
  const shown = { checkpointData: { session: { token: '[redacted]' }, at: 'after [redacted]' } };
  const { body } = await goOn(run.id);
  expect(body).toMatchObject(shown);
  expect(await scene.read(String(body['id']))).toMatchObject(shown);
  const claimed = await run.agent.api.post<{ tasks: { task: Body }[] }>(
    `/agents/${run.agent.id}/claim`,
  );
  expect(claimed.body.tasks.map(({ task }) => task)).toMatchObject([{ checkpointData }]);
});

it.each([
  [{ text: `\n ${TEXT} \nAnd one more.` }, TEXT],
  [{ text: 'A'.repeat(201) }, 'Mend the parser'],
  [{ text: `${'word '.repeat(39)} ${SECRET}` }, 'word '.repeat(39).trim()],
  [{ text: `Use ${SECRET}.` }, 'Use [redacted].'],
  [{ text: `${'word '.repeat(38)}${SECRETS.PHRASE}` }, 'Mend the parser'],
  [{ text: TEXT, title: `${'a'.repeat(248)}${SECRETS.PIN}` }, `${'a'.repeat(248)}[redact`],
  [{ text: TEXT, title: 'Week 53' }, 'Week 53'],
])('the title of a continuation is that of its text or its own: %j', async (body, title) => {
  const run = await held();
  await report(run, 'complete');
  expect(await goOn(run.id, body)).toMatchObject({ status: 201, body: { title } });
});

it('a task that requires as many capabilities as it can continues', async () => {
  const requiredCapabilities = Array.from({ length: 20 }, (_, n) => `skill-${n}`);
  const id = await scene.task({
    agent: { kind: 'codex' },
    instructions: TEXT,
    requiredCapabilities,
  });
  await scene.workspace.api.post(`/agent-tasks/${id}/cancel`);
  const { requiredCapabilities: required } = await scene.read(id);
  expect(required).toHaveLength(22);
  expect(await goOn(id)).toMatchObject({ status: 201, body: { requiredCapabilities: required } });
});

it('an unfinished task and one without a coding agent cannot be continued', async () => {
  const run = await held();
  const refused = { status: 409, body: { code: 'not_continuable' } };
  expect(await goOn(run.id)).toMatchObject(refused);
  const other = await scene.held();
  await report(other, 'complete');
  expect(await goOn(other.id)).toMatchObject(refused);
  expect((await goOn(run.id, {})).status).toBe(400);
  expect((await goOn('0198c0de-7000-7000-8000-000000000000')).status).toBe(404);
});
