import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  soundServer,
  type TestAgent,
  type TestServer,
} from '../../../../test/support/sound-server.js';
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
interface Claimed {
  run: { id: string };
  task: { id: string; checkpointData: Body; answers: Body[]; retryCount: number };
}

const CHOICE = { prompt: 'Ship it?', choices: ['yes', 'no'], onDeadline: 'fail' };
const ask = ({ agent, runId }: Pick<Held, 'agent' | 'runId'>, body: Body = {}) =>
  agent.api.post<Body>(`/runs/${runId}/questions`, { ...CHOICE, deadlineSeconds: 600, ...body });

async function asked(held: Held, body: Body = {}): Promise<string> {
  const answer = await ask(held, body);
  expect(answer.status).toBe(201);
  return String(answer.body['id']);
}

const answer = (id: string, text: string) =>
  scene.workspace.api.post<Body>(`/questions/${id}/answer`, { answer: text });
const read = async (id: string) => (await scene.workspace.api.get<Body>(`/questions/${id}`)).body;

async function listed(query: string): Promise<Body[]> {
  return (await scene.workspace.api.get<{ items: Body[] }>(`/questions?${query}`)).body.items;
}

async function claims(agent: TestAgent): Promise<Claimed[]> {
  return (await agent.api.post<{ tasks: Claimed[] }>(`/agents/${agent.id}/claim`, {})).body.tasks;
}

/** Moves its deadline to a second ago. */
async function late(id: string): Promise<void> {
  const past = `asked_at = now() - interval '1 hour', deadline_at = now() - interval '1 second'`;
  await scene.sql(`UPDATE questions SET ${past} WHERE id = $1`, id);
}

describe('a run that asks', () => {
  it('a question ends the run, and its task waits without a lease, an attempt or a slot', async () => {
    const held = await scene.held();
    const id = await asked(held, { checkpointData: { page: 7 } });
    const sql = 'SELECT state, end_reason, held_tokens FROM task_runs WHERE id = $1';
    expect((await scene.sql(sql, held.runId)).rows).toEqual([
      { state: 'RELEASED', end_reason: 'question', held_tokens: '0' },
    ]);
    expect(await scene.read(held.id)).toMatchObject({
      status: 'PAUSED',
      pauseReason: 'question',
      runId: null,
      retryCount: 0,
      checkpointData: { page: 7 },
    });
    const { body } = await scene.workspace.api.get<Body>(`/agents/${held.agent.id}`);
    expect(body).toMatchObject({ status: 'IDLE' });
    expect(await listed('status=open')).toMatchObject([
      {
        id,
        taskId: held.id,
        runId: held.runId,
        prompt: 'Ship it?',
        freeText: false,
        choices: ['yes', 'no'],
        answer: null,
        answeredBy: null,
        byDefault: false,
      },
    ]);
    expect(await claims(held.agent)).toEqual([]);
    await scene.recover();
    expect(await scene.read(held.id)).toMatchObject({ status: 'PAUSED' });
    await scene.holdsEverything();
  });

  it("the last lines of a run that asked are in its task's log, and hide its secrets", async () => {
    const [value, held] = ['a-secret-of-the-task', await scene.held({ secrets: { A: 'x' } })];
    await scene.workspace.api.patch(`/agent-tasks/${held.id}`, { secrets: { A: value } });
    const question = await asked(held);
    const say = (message: string) =>
      held.agent.api.post(`/runs/${held.runId}/logs`, { entries: [{ event: 'late', message }] });
    expect(await say(`It has ${value}`)).toMatchObject({ status: 202, body: { accepted: 1 } });
    expect((await answer(question, 'yes')).status).toBe(200);
    const next = await scene.claim(await scene.heirOf(held));
    expect((await say('And one after the answer')).status).toBe(202);
    expect(
      (await scene.logs(held.id, 'late')).map(({ message, runId }) => [message, runId]),
    ).toEqual([
      ['It has [redacted]', held.runId],
      ['And one after the answer', held.runId],
    ]);
    await scene.sql(
      `UPDATE task_runs SET assigned_at = assigned_at - interval '1 hour',
         started_at = started_at - interval '1 hour', ended_at = ended_at - interval '1 hour' WHERE id = $1`,
      held.runId,
    );
    expect(await say('Too late')).toMatchObject({ status: 409, body: { code: 'stale_run' } });
    expect((await next.agent.api.post(`/runs/${next.runId}/release`, {})).status).toBe(200);
    const entries = [{ message: 'after a release' }];
    const refused = await next.agent.api.post(`/runs/${next.runId}/logs`, { entries });
    expect(refused).toMatchObject({ status: 409, body: { code: 'stale_run' } });
  });

  it('the answer resumes the task from its checkpoint and before later tasks', async () => {
    const held = await scene.held();
    const id = await asked(held, { checkpointData: { page: 7 } });
    const { rows } = await scene.sql(
      'SELECT capabilities FROM agents WHERE id = $1',
      held.agent.id,
    );
    const later = await scene.task({ requiredCapabilities: rows[0]?.['capabilities'] });
    const answered = await answer(id, 'yes');
    const by = `user:${scene.workspace.userId}`;
    expect(answered.status).toBe(200);
    expect(answered.body).toMatchObject({ status: 'answered', answer: 'yes', answeredBy: by });
    const [first] = await claims(held.agent);
    expect(first?.task).toMatchObject({ id: held.id, checkpointData: { page: 7 }, retryCount: 0 });
    expect(first?.task.answers).toEqual([
      {
        questionId: id,
        prompt: 'Ship it?',
        answer: 'yes',
        answeredBy: by,
        byDefault: false,
        answeredAt: answered.body['closedAt'],
      },
    ]);
    expect(await scene.read(later)).toMatchObject({ status: 'PENDING' });
    // A second question, and both answers in order.
    const again = { agent: held.agent, runId: String(first?.run.id) } as Held;
    await answer(await asked(again, { prompt: 'Which?', choices: undefined }), 'The blue one');
    const [second] = await claims(held.agent);
    expect(second?.task.answers.map(({ answer: text }) => text)).toEqual(['yes', 'The blue one']);
    expect(await listed(`taskId=${held.id}`)).toMatchObject([
      { prompt: 'Which?', freeText: true },
      { prompt: 'Ship it?' },
    ]);
    await scene.holdsEverything();
  });

  it('a repeated question gets the same answer, and another question is stale', async () => {
    const held = await scene.held();
    const id = await asked(held);
    expect((await ask(held)).body).toMatchObject({ id });
    expect(await ask(held, { prompt: 'And this?' })).toMatchObject({
      status: 409,
      body: { code: 'stale_run', endReason: 'question' },
    });
    expect(await listed('status=open')).toHaveLength(1);
  });

  it.each<[string, Body, string]>([
    ['no deadline', { deadlineSeconds: undefined }, 'deadlineSeconds'],
    ['two deadlines', { deadlineAt: new Date().toISOString() }, 'deadlineSeconds'],
    [
      'a deadline in the past',
      { deadlineSeconds: undefined, deadlineAt: '2020-01-01T00:00:00Z' },
      'deadlineAt',
    ],
    ['no default', { onDeadline: 'default' }, 'default'],
    ['a default that is no choice', { default: 'perhaps' }, 'default'],
    ['neither choices nor free text', { choices: [], freeText: false }, 'choices'],
    ['a choice twice', { choices: ['yes', 'yes'] }, 'choices'],
    [
      'a secret among its choices',
      { choices: ['ghp_0123456789abcdefghijABCDEFGHIJ012345'] },
      'choices[0]',
    ],
    ['a prompt that is too long', { prompt: 'x'.repeat(4_001) }, 'prompt'],
    [
      'a prompt that is too long without its secret',
      { prompt: `password=abcd ${'x'.repeat(3_986)}` },
      'prompt',
    ],
    [
      'a checkpoint where the run waits',
      { runWaits: true, onDeadline: 'default', default: 'no', checkpointData: { page: 7 } },
      'checkpointData',
    ],
  ])('a question is refused with %s, and the run continues', async (_, body, field) => {
    const held = await scene.held();
    const refused = await ask(held, body);
    expect([refused.status, refused.body]).toMatchObject([400, { errors: [{ field }] }]);
    expect(await scene.read(held.id)).toMatchObject({ status: 'RUNNING', runId: held.runId });
  });

  it('a run cannot ask while its task is paused', async () => {
    const held = await scene.held();
    await scene.workspace.api.post(`/agent-tasks/${held.id}/pause`);
    expect(await ask(held)).toMatchObject({ status: 409, body: { code: 'illegal_transition' } });
  });
});

describe('the answer', () => {
  it('an answer must be one of the choices', async () => {
    const id = await asked(await scene.held());
    expect(await answer(id, 'perhaps')).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ field: 'answer' }] },
    });
    expect(await read(id)).toMatchObject({ status: 'open' });
  });

  it('one of two concurrent answers counts', async () => {
    const held = await scene.held();
    const id = await asked(held);
    const sent = ['yes', 'no', 'yes', 'no'];
    const answers = await Promise.all(sent.map((text) => answer(id, text)));
    const counts = String((await read(id))['answer']);
    // The same answer twice could be one whose acceptance was lost.
    const expected = sent.map((text) =>
      text === counts
        ? { status: 200, body: { answer: counts } }
        : { status: 409, body: { code: 'question_closed', answer: counts } },
    );
    expect(answers).toMatchObject(expected);
    const [claimed] = await claims(held.agent);
    expect(claimed?.task.answers).toHaveLength(1);
    await scene.holdsEverything();
  });

  it('a secret answer reaches its run whole and is hidden from everybody else', async () => {
    const held = await scene.held();
    const id = await asked(held, { prompt: 'The token?', choices: undefined });
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    expect((await answer(id, `It is ${secret}.`)).body['answer']).toBe('It is [redacted].');
    // Whether it is the same is not revealed.
    expect((await answer(id, `It is ${secret}.`)).status).toBe(409);
    const [first] = await claims(held.agent);
    expect(first?.task.answers).toMatchObject([{ answer: `It is ${secret}.` }]);
    // Sealed again with the next answer, which the coordinator gives.
    const again = { agent: held.agent, runId: String(first?.run.id) } as Held;
    await late(await asked(again, { onDeadline: 'default', default: 'no' }));
    await scene.recover();
    const [second] = await claims(held.agent);
    expect(second?.task.answers).toMatchObject([{ answer: `It is ${secret}.` }, { answer: 'no' }]);
    const rows = await scene.sql(
      `SELECT (SELECT string_agg(j.details::text || coalesce(j.message, ''), ' ') FROM journal j
        WHERE j.task_id = $1) ||
        (SELECT t.answers::text FROM agent_tasks t WHERE t.id = $1) ||
        (SELECT string_agg(s.sealed::text, ' ') FROM task_secrets s WHERE s.task_id = $1) AS texts`,
      held.id,
    );
    expect(rows.rows[0]?.['texts']).not.toContain(secret);
  });
});

describe('an unanswered question', () => {
  it('its default keeps secrets in earlier answers hidden, though its task has others now', async () => {
    const secret = 'correct horse battery staple';
    const held = await scene.held({ secrets: { PASSPHRASE: secret } });
    const first = await asked(held, { prompt: 'How do I sign in?', choices: undefined });
    expect((await answer(first, `Use ${secret} there`)).body['answer']).toBe(
      'Use [redacted] there',
    );
    const [again] = await claims(held.agent);
    const patch = { secrets: { PASSPHRASE: 'another one' } };
    expect((await scene.workspace.api.patch(`/agent-tasks/${held.id}`, patch)).status).toBe(200);
    const next = { agent: held.agent, runId: String(again?.run.id) };
    await late(await asked(next as Held, { onDeadline: 'default', default: 'no' }));
    await scene.recover();
    const { rows } = await scene.sql('SELECT answers FROM agent_tasks WHERE id = $1', held.id);
    expect(rows).toMatchObject([
      { answers: [{ answer: 'Use [redacted] there' }, { answer: 'no' }] },
    ]);
    const [last] = await claims(held.agent);
    expect(last?.task.answers).toMatchObject([{ answer: `Use ${secret} there` }, { answer: 'no' }]);
  });

  it('an unanswered question is answered by its default', async () => {
    const held = await scene.held();
    const id = await asked(held, { onDeadline: 'default', default: 'no' });
    await late(id);
    expect((await scene.recover())['questionsExpired']).toBe(1);
    expect(await read(id)).toMatchObject({ status: 'expired', answer: 'no', byDefault: true });
    const [claimed] = await claims(held.agent);
    expect(claimed?.task.answers).toMatchObject([
      { questionId: id, answer: 'no', answeredBy: null, byDefault: true },
    ]);
    expect(await answer(id, 'yes')).toMatchObject({ status: 409, body: { state: 'expired' } });
    await scene.holdsEverything();
  });

  it('an unanswered question can fail its task, and a retry asks again', async () => {
    const held = await scene.held();
    const id = await asked(held);
    await late(id);
    await scene.recover();
    expect(await read(id)).toMatchObject({ status: 'expired', answer: null, byDefault: false });
    expect(await scene.read(held.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'question_expired',
      retryCount: 0,
    });
    await scene.workspace.api.post(`/agent-tasks/${held.id}/retry`);
    const [claimed] = await claims(held.agent);
    expect(claimed?.task).toMatchObject({ id: held.id, answers: [] });
    await scene.holdsEverything();
  });

  it('a question is closed by its answer or its deadline, never by both', async () => {
    const held = [await scene.held(), await scene.held(), await scene.held(), await scene.held()];
    const ids = [];
    for (const one of held) ids.push(await asked(one, { onDeadline: 'default', default: 'no' }));
    for (const id of ids) await late(id);
    const [answers] = await Promise.all([
      Promise.all(ids.map((id) => answer(id, 'yes'))),
      scene.recover(),
    ]);
    for (const [index, id] of ids.entries()) {
      const status = answers[index]?.status === 200 ? 'answered' : 'expired';
      expect(await read(id)).toMatchObject({ status });
      const { task } = (await claims(held[index]?.agent as TestAgent))[0] as Claimed;
      expect(task.answers).toMatchObject([{ byDefault: status === 'expired' }]);
    }
    await scene.holdsEverything();
  });
});

describe('a task that waits for an answer', () => {
  it('cancelling the task cancels its question', async () => {
    const held = await scene.held();
    const id = await asked(held);
    const [cancelled, answered] = await Promise.all([
      scene.workspace.api.post(`/agent-tasks/${held.id}/cancel`),
      answer(id, 'yes'),
    ]);
    expect(cancelled.status).toBe(200);
    const status = answered.status === 200 ? 'answered' : 'cancelled';
    expect(await read(id)).toMatchObject({ status });
    expect(await scene.read(held.id)).toMatchObject({ status: 'ABORTED' });
    expect(await listed('status=open')).toEqual([]);
    expect(await answer(id, 'no')).toMatchObject({ status: 409, body: { state: status } });
    await scene.holdsEverything();
  });

  it.each(['pause', 'resume', 'retry', 'archive'])('a waiting task refuses %s', async (command) => {
    const held = await scene.held();
    const id = await asked(held);
    const refused = await scene.workspace.api.post<Body>(`/agent-tasks/${held.id}/${command}`);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'illegal_transition', commands: ['cancel'] },
    ]);
    expect(String(refused.body['detail'])).toContain('waits for an answer');
    expect(await read(id)).toMatchObject({ status: 'open' });
  });

  it('a filter finds waiting tasks and no other paused ones', async () => {
    const held = await scene.held();
    const paused = await scene.task();
    await scene.workspace.api.post(`/agent-tasks/${paused}/pause`);
    await asked(held);
    const found = async (waits: boolean) => {
      const path = `/agent-tasks?status=PAUSED&waitsForAnswer=${waits}`;
      const { body } = await scene.workspace.api.get<{ items: { id: string }[] }>(path);
      return body.items.map(({ id }) => id);
    };
    expect(await found(true)).toEqual([held.id]);
    expect(await found(false)).toEqual([paused]);
  });

  it('the explanation of a waiting task names the question, the deadline and the consequence', async () => {
    const held = await scene.held();
    const id = await asked(held, { onDeadline: 'default', default: 'no' });
    const path = `/agent-tasks/${held.id}/explain`;
    const { body } = await scene.workspace.api.get<{ reasons: Body[] }>(path);
    const [reason] = body.reasons;
    expect(reason).toMatchObject({
      code: 'waiting_for_answer',
      facts: { questionId: id, prompt: 'Ship it?', onDeadline: 'default', default: 'no' },
    });
    expect(reason?.['message']).toContain('with "no" as the answer');
  });

  it("a question is in its task's log and in the events", async () => {
    const held = await scene.held();
    const id = await asked(held);
    await answer(id, 'yes');
    const [told] = await scene.logs(held.id, 'question_asked');
    expect(told).toMatchObject({ message: 'It asks: Ship it?' });
    expect(await scene.events('question.answered')).toMatchObject([
      { taskId: held.id, questionId: id, answer: 'yes' },
    ]);
  });
});

describe('the list of open questions', () => {
  it('open questions come by deadline, page by page', async () => {
    const ids: string[] = [];
    for (const deadlineSeconds of [300, 100, 200])
      ids.push(await asked(await scene.held(), { deadlineSeconds }));
    type Listed = { items: Body[]; nextCursor: string | null };
    const page = async (query: string) =>
      (await scene.workspace.api.get<Listed>(`/questions?status=open&limit=2${query}`)).body;
    const first = await page('');
    const second = await page(`&cursor=${first.nextCursor}`);
    const all = [...first.items, ...second.items].map(({ id }) => id);
    expect(all).toEqual([ids[1], ids[2], ids[0]]);
    expect(second.nextCursor).toBeNull();
    expect(await listed('status=open&cursor=WzFd')).toBeUndefined();
  });
});
