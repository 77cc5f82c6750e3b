import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { soundServer, type TestServer } from '../../../../test/support/sound-server.js';
import { type Held, Scene } from '../../coordinator/testing/scene.js';

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
beforeEach(async () => {
  scene = await Scene.of(server);
});
afterAll(() => server.stop());

type Body = Record<string, unknown>;
const WORDS = { text: 'Use ISO weeks, too.', deliver: 'turn_end' };
const CODEX = { agent: { kind: 'codex' } };

const held = () => scene.held(CODEX);
const send = ({ runId }: Pick<Held, 'runId'>, body: Body = {}) =>
  scene.workspace.api.post<Body>(`/runs/${runId}/messages`, { ...WORDS, ...body });
const signals = ({ agent, runId }: Held, position = 0, waitMs = 0) =>
  agent.api.post<{ messages: Body[]; runs: Body[] }>(`/agents/${agent.id}/signals`, {
    runIds: [runId],
    heard: [{ runId, position }],
    waitMs,
  });
const deliver = ({ agent, runId }: Held, ...positions: number[]) =>
  agent.api.post<Body>(`/runs/${runId}/messages/delivered`, { positions });
const ask = ({ agent, runId }: Held, body: Body = {}) =>
  agent.api.post<Body>(`/runs/${runId}/questions`, {
    prompt: 'May I push?',
    choices: ['allow once', 'deny'],
    deadlineSeconds: 600,
    onDeadline: 'default',
    default: 'deny',
    runWaits: true,
    ...body,
  });
const answer = (id: unknown, text: string) =>
  scene.workspace.api.post<Body>(`/questions/${String(id)}/answer`, { answer: text });

async function listed({ runId }: Held, query = ''): Promise<Body[]> {
  const path = `/runs/${runId}/messages?${query}`;
  return (await scene.workspace.api.get<{ items: Body[] }>(path)).body.items;
}

describe('messages to a run', () => {
  it('a message wakes the agent, is delivered once, and appears in the log', async () => {
    const run = await held();
    const waiting = signals(run, 0, 20_000);
    const sent = await send(run, { data: { line: 7 }, type: 'review' });
    expect(sent.status).toBe(201);
    const sender = `user:${scene.workspace.userId}`;
    const message = { ...WORDS, position: 1, type: 'review', data: { line: 7 }, sender };
    expect(sent.body).toMatchObject({ ...message, state: 'waiting', deliveredAt: null });
    expect((await waiting).body.messages).toMatchObject([message]);
    expect((await signals(run, 1)).body.messages).toEqual([]);

    expect((await deliver(run, 1)).body).toEqual({ delivered: 1 });
    expect((await deliver(run, 1)).body).toEqual({ delivered: 0 });
    expect((await signals(run)).body.messages).toEqual([]);
    expect(await listed(run)).toMatchObject([
      { id: sent.body['id'], state: 'delivered', deliveredAt: expect.any(String) },
    ]);
    expect(await scene.logs(run.id, 'message_delivered')).toMatchObject([
      { runId: run.runId, message: WORDS.text, details: { sender, position: 1 } },
    ]);
  });

  it('messages of many senders have an order without gaps', async () => {
    const run = await held();
    const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
    await Promise.all(texts.map((text) => send(run, { text })));
    const found = await listed(run);
    expect(found.map(({ position }) => position)).toEqual(texts.map((_, index) => index + 1));
    expect((await signals(run)).body.messages).toEqual(found);
    const first = await scene.workspace.api.get<{ items: Body[]; nextCursor: string }>(
      `/runs/${run.runId}/messages?limit=10`,
    );
    expect(await listed(run, `cursor=${first.body.nextCursor}`)).toEqual(found.slice(10));
  });

  it('a message that the run did not receive before its end is undelivered', async () => {
    const run = await held();
    await send(run);
    await send(run, { deliver: 'interrupt' });
    await deliver(run, 1);
    await run.agent.api.post(`/runs/${run.runId}/complete`, {});
    expect(await listed(run)).toMatchObject([{ state: 'delivered' }, { state: 'undelivered' }]);
    expect(await deliver(run, 2)).toMatchObject({ status: 409, body: { code: 'stale_run' } });
    expect(await send(run)).toMatchObject({ status: 409, body: { code: 'run_ended' } });
  });

  it('a secret in a message is hidden from everybody', async () => {
    const run = await scene.held({ ...CODEX, secrets: { TOKEN: 'hunter2-hunter2' } });
    await send(run, { text: 'Take hunter2-hunter2.', data: { note: 'hunter2-hunter2' } });
    const { messages } = (await signals(run)).body;
    expect(messages).toMatchObject([{ text: 'Take [redacted].', data: { note: '[redacted]' } }]);
  });

  it('a message of files alone needs no text', async () => {
    const run = await held();
    const words = { text: '', data: { attachments: newId() } };
    expect(await send(run, words)).toMatchObject({ status: 201, body: words });
    expect((await signals(run)).body.messages).toMatchObject([words]);
    await deliver(run, 1);
    expect(await scene.logs(run.id, 'message_delivered')).toMatchObject([
      { message: '', details: { data: words.data } },
    ]);
  });

  it('a text that its redaction makes too long is refused', async () => {
    const run = await scene.held({ ...CODEX, secrets: { TOKEN: 'hunter22' } });
    const { status, body } = await send(run, { text: 'hunter22'.repeat(2_000) });
    expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ field: 'text' })]]);
    expect(await listed(run)).toEqual([]);
  });

  it('a run without a coding agent hears no messages', async () => {
    const run = await scene.held();
    expect(await send(run)).toMatchObject({ status: 409, body: { code: 'run_hears_no_messages' } });
    const question = await ask(run);
    expect(question).toMatchObject({ status: 409, body: { code: 'run_hears_no_messages' } });
  });

  it('an agent receives no messages of other agents', async () => {
    const [run, other] = [await held(), await held()];
    await send(run);
    const { runId } = run;
    expect((await signals({ ...other, runId })).body.messages).toEqual([]);
    expect((await deliver({ ...other, runId }, 1)).status).toBe(404);
  });

  it.each([
    [{ text: '' }, 'text'],
    [{ text: ' ', data: { attachments: 'logo.png' } }, 'text'],
    [{ text: 'x'.repeat(16_001) }, 'text'],
    [{ deliver: 'now' }, 'deliver'],
    [{ type: 'A type' }, 'type'],
    [{ data: 'text' }, 'data'],
    [{ data: { text: 'x'.repeat(16_000) } }, 'data'],
  ])('%j is refused', async (body, field) => {
    const { status, body: problem } = await send(await held(), body);
    expect([status, problem['errors']]).toEqual([400, [expect.objectContaining({ field })]]);
  });

  it('the maximum number of messages cannot be exceeded', async () => {
    const run = await held();
    await scene.sql(
      `INSERT INTO run_messages (workspace_id, id, run_id, sequence, type, text, deliver, sender)
       VALUES ($1, uuidv7(), $2, 1000, 'message', 'x', 'turn_end', 'user:1')`,
      scene.id,
      run.runId,
    );
    expect(await send(run)).toMatchObject({ status: 422, body: { code: 'too_many_messages' } });
  });
});

describe('a question for whose answer the run waits', () => {
  it('the run stays live, and receives the answer as a message', async () => {
    const run = await held();
    const { status, body } = await ask(run);
    expect([status, body]).toMatchObject([201, { status: 'open', runWaits: true }]);
    expect(await scene.read(run.id)).toMatchObject({ status: 'RUNNING', runId: run.runId });
    expect((await ask(run)).body['id']).toBe(body['id']);
    await scene.holdsEverything();

    const waiting = signals(run, 0, 20_000);
    expect((await answer(body['id'], 'perhaps')).status).toBe(400);
    expect(await answer(body['id'], 'allow once')).toMatchObject({ status: 200 });
    const questionId = body['id'];
    const message = { type: 'answer', questionId, text: 'allow once', position: 1 };
    expect((await waiting).body.messages).toMatchObject([message]);
    expect(await scene.read(run.id)).toMatchObject({ status: 'RUNNING', runId: run.runId });
    await deliver(run, 1);
    expect(await scene.logs(run.id, 'message_delivered')).toEqual([]);
    const closed = await answer(questionId, 'deny');
    expect(closed).toMatchObject({ status: 409, body: { code: 'question_closed' } });
  });

  it('the default becomes the answer at the deadline', async () => {
    const run = await held();
    const { body } = await ask(run);
    await scene.sql(
      `UPDATE questions SET asked_at = now() - interval '1 hour',
         deadline_at = now() - interval '1 second' WHERE id = $1`,
      body['id'],
    );
    await scene.recover();
    expect((await signals(run)).body.messages).toMatchObject([
      { type: 'answer', text: 'deny', sender: 'coordinator' },
    ]);
    expect(await scene.read(run.id)).toMatchObject({ status: 'RUNNING' });
  });

  it('the end of the run cancels the question', async () => {
    const run = await held();
    const { body } = await ask(run);
    const error = { message: 'It crashed', retryable: false };
    await run.agent.api.post(`/runs/${run.runId}/fail`, { error });
    expect(await answer(body['id'], 'deny')).toMatchObject({
      status: 409,
      body: { status: 409, code: 'question_closed', state: 'cancelled' },
    });
    const { body: read } = await scene.workspace.api.get<Body>(`/questions/${String(body['id'])}`);
    expect(read).toMatchObject({ status: 'cancelled' });
    await scene.holdsEverything();
  });

  it('the run cancels a question, and another takes its place', async () => {
    const run = await held();
    const [first, second] = [(await ask(run)).body, (await ask(run, { prompt: 'Merge?' })).body];
    const statusOf = async ({ id }: Body) =>
      (await scene.workspace.api.get<Body>(`/questions/${String(id)}`)).body['status'];
    expect([await statusOf(first), await statusOf(second)]).toEqual(['cancelled', 'open']);
    const path = `/runs/${run.runId}/questions/cancel`;
    const other = await held();
    expect((await other.agent.api.post(path)).status).toBe(404);
    expect((await run.agent.api.post(path)).body).toEqual({ cancelled: 1 });
    expect((await run.agent.api.post(path)).body).toEqual({ cancelled: 0 });
    expect(await statusOf(second)).toBe('cancelled');
  });

  it('a question that ends the run takes the place of one for which it waited', async () => {
    const run = await held();
    await ask(run);
    const last = await ask(run, { prompt: 'Ship it?', runWaits: false });
    expect(last).toMatchObject({ status: 201, body: { runWaits: false } });
    expect(await scene.read(run.id)).toMatchObject({ status: 'PAUSED', runId: null });
    await scene.holdsEverything();
  });

  it('it needs a default, and a task that is not paused', async () => {
    const run = await held();
    const refused = await ask(run, { onDeadline: 'fail', default: undefined });
    expect([refused.status, refused.body['errors']]).toMatchObject([
      400,
      [{ field: 'onDeadline' }],
    ]);
    await scene.workspace.api.post(`/agent-tasks/${run.id}/pause`);
    expect((await ask(run)).body).toMatchObject({ code: 'illegal_transition' });
  });
});
