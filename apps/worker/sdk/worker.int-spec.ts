import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { TestFleet } from '../../../test/support/fleet.js';
import type { BuiltProcess } from '../../../test/support/processes.js';
import { FaultyProxy } from '../../../test/support/proxy/faulty-proxy.js';
import { waitFor } from '../../../test/support/wait-for.js';

/** A program of the SDK beside a real server. */

let fleet: TestFleet;
let worker: BuiltProcess;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
});
afterEach(() => worker.stop());
afterAll(() => fleet.stop());

const start = async (env: Record<string, string> = {}): Promise<BuiltProcess> =>
  (worker = await fleet.startWorker('sdk', env, 'apps/worker/sdk/testing/worker.js'));

async function submit(taskType: string, inputContext: object): Promise<string> {
  const task = { title: 'A test', taskType, inputContext, retryBackoffSeconds: 0 };
  const { body } = await fleet.api.post<{ id: string }>('/agent-tasks', task);
  return body.id;
}

const until = (id: string, status: string) =>
  waitFor(`the task to be ${status}`, async () => {
    const task = await fleet.task(id);
    return task['status'] === status && task;
  });

const page = (id: string, number: number) =>
  waitFor(`the checkpoint of page ${number}`, async () => {
    const { checkpointData } = await fleet.task(id);
    return (checkpointData as { page?: number } | null)?.page === number;
  });

const heartbeatWith = (step: string) =>
  waitFor('a heartbeat with the step', async () => {
    const agentId = String(worker.all('Registered')[0]?.['agentId']);
    const { body } = await fleet.api.get<{ currentStep: string }>(`/agents/${agentId}/health`);
    return body.currentStep === step;
  });

const act = async (id: string, action: string): Promise<void> => {
  const { status } = await fleet.api.post(`/agent-tasks/${id}/${action}`, {});
  expect(status).toBeLessThan(300);
};

async function tokensOf(id: string): Promise<number> {
  const sql = `SELECT sum(input_tokens + output_tokens) AS tokens FROM agent_usage_logs WHERE task_id = $1`;
  const { rows } = await fleet.db.owner.query<{ tokens: unknown }>(sql, [id]);
  return Number(rows[0]?.tokens);
}

it('a task of a killed program resumes from its checkpoint, and each page counts once', async () => {
  await start();
  const id = await submit('read', { pages: 5, waitsAt: 3 });
  await page(id, 3);
  worker.kill('SIGKILL');
  await worker.ended();
  await start();
  expect(await until(id, 'COMPLETED')).toMatchObject({
    outputResult: { begun: 3, pages: 5 },
    retryCount: 1,
    progressPercent: 100,
  });
  const { body } = await fleet.api.get<{ items: object[] }>(`/agent-tasks/${id}/logs`);
  expect(body.items).toContainEqual(expect.objectContaining({ event: 'handler', message: 'read' }));
  expect(await waitFor('the usage', async () => (await tokensOf(id)) === 550)).toBe(true);
});

it('a pause aborts the signal, and the resumed task continues without counting an attempt', async () => {
  await start();
  const id = await submit('read', { pages: 3, waitsAt: 2 });
  await page(id, 2);
  await act(id, 'pause');
  await until(id, 'PAUSED');
  expect(await worker.said('aborted')).toMatchObject({ action: 'pause', reason: 'pause' });
  await waitFor('the release', async () => {
    const { body } = await fleet.api.get<{ items: { state: string }[] }>(`/agent-tasks/${id}/runs`);
    return body.items[0]?.state === 'RELEASED';
  });
  await act(id, 'resume');
  expect(await until(id, 'COMPLETED')).toMatchObject({
    outputResult: { begun: 2, pages: 3 },
    retryCount: 0,
  });
});

it('a cancelled task aborts its handler, and a handler that ignores it keeps its slot', async () => {
  await start();
  const listens = await submit('read', { pages: 3, waitsAt: 1 });
  await page(listens, 1);
  await act(listens, 'cancel');
  expect(await worker.said('aborted')).toMatchObject({ action: 'stop', reason: 'cancelled' });
  const deaf = await submit('read', { pages: 3, waitsAt: 1, ignores: true });
  await page(deaf, 1);
  await act(deaf, 'cancel');
  // The program has two slots. One is left.
  const others = [1, 2].map(() => submit('read', { pages: 2, waitsAt: 1 }));
  const [one = '', other = ''] = await Promise.all(others);
  await waitFor('one of them', async () => {
    const tasks = await Promise.all([one, other].map((id) => fleet.task(id)));
    return tasks.filter(({ status }) => status === 'RUNNING').length === 1;
  });
  await Promise.all([act(one, 'cancel'), act(other, 'cancel')]);
  const next = await submit('read', { pages: 1 });
  await until(next, 'COMPLETED');
});

it('each question ends a run, and the answers arrive in the next one', async () => {
  await start();
  const id = await submit('ask', {});
  for (const [prompt, answer] of Object.entries({ 'Which one?': 'left', 'How many?': '7' })) {
    const question = await waitFor(prompt, async () => {
      const { body } = await fleet.api.get<{ items: { id: string; prompt: string }[] }>(
        `/questions?status=open&taskId=${id}`,
      );
      return body.items.find((one) => one.prompt === prompt);
    });
    await fleet.api.post(`/questions/${question.id}/answer`, { answer });
  }
  expect(await until(id, 'COMPLETED')).toMatchObject({
    outputResult: { answers: ['left', '7'] },
    retryCount: 0,
    generation: 3,
  });
  expect(worker.all('asked')).toMatchObject([{ reason: 'question' }, { reason: 'question' }]);
});

it('faults of a handler end neither the heartbeats nor the signals of other runs', async () => {
  await start();
  const careless = await submit('careless', {});
  await page(careless, 1);
  const { progressPercent, currentStep } = await fleet.task(careless);
  expect(progressPercent).toBe(40);
  expect(currentStep).toHaveLength(500);
  await heartbeatWith(String(currentStep));
  const other = await submit('read', { pages: 3, waitsAt: 1 });
  await page(other, 1);
  const warn = 'UPDATE task_runs SET hung_warned_at = now() WHERE task_id = $1';
  await fleet.db.owner.query(warn, [careless]);
  await act(other, 'cancel');
  await waitFor('the abort of the other run', () => worker.count('aborted') > 0);
  const said = await waitFor('both listeners', async () => {
    const lines = (await fleet.logOf(careless)).map(({ message }) => message);
    return lines.includes('A listener of onWarning failed: rejected') && lines;
  });
  expect(said).toContain('A listener of onWarning failed: thrown');
  expect(said).toContain('TypeError: The percent must be a finite number.');
  expect(worker.all('Call failed; trying again')).toEqual([]);
  await act(careless, 'cancel');
  await worker.said('went on');
});

it('a step that its hidden secrets lengthen does not stop the heartbeats', async () => {
  worker = await fleet.startWorker('process');
  const step = JSON.stringify({ step: 'abcd'.repeat(125) });
  const script = `console.log('::drover ' + ${JSON.stringify(step)}); setInterval(() => 0, 1000);`;
  const id = await fleet.submit(script, { secrets: { A_TOKEN: 'abcd' } });
  await heartbeatWith('[redacted]'.repeat(100));
  await act(id, 'cancel');
});

it('an error is retried, a final error and a result that is no object are not', async () => {
  await start();
  const [again, final, list, big] = await Promise.all([
    submit('fail', {}),
    submit('fail', { final: true }),
    submit('list', {}),
    submit('list', { big: true }),
  ]);
  expect(await until(again, 'COMPLETED')).toMatchObject({ retryCount: 1 });
  expect(await until(final, 'FAILED')).toMatchObject({ retryCount: 0 });
  await until(list, 'FAILED');
  const { body } = await fleet.api.get(`/agent-tasks/${list}/runs`);
  expect(JSON.stringify(body)).toContain('The handler of \\"list\\" returned an array');
  expect((await until(big, 'FAILED')).lastError).toContain('JSON cannot hold');
  expect((await fleet.logOf(big)).map(({ message }) => message)).toContain('a number');
});

it('SIGTERM lets handlers finish, and releases the rest with their checkpoints', async () => {
  await start({ DROVER_WORKER_DRAIN_SECONDS: '1', DROVER_WORKER_GRACE_SECONDS: '5' });
  const rest = await submit('read', { pages: 3, waitsAt: 2 });
  const whole = await submit('read', { pages: 3, waitsAt: 2, finishes: true });
  await Promise.all([page(rest, 2), page(whole, 2)]);
  worker.kill('SIGTERM');
  expect(await worker.ended()).toBe(0);
  expect(worker.count('run has ended')).toBe(1);
  expect(worker.all('aborted')).toMatchObject([{ reason: 'drain' }, { reason: 'drain' }]);
  expect(await fleet.task(whole)).toMatchObject({ status: 'COMPLETED' });
  expect(await until(rest, 'PENDING')).toMatchObject({
    retryCount: 0,
    checkpointData: { page: 2 },
  });
  await act(rest, 'cancel');
});

it('a handler that ignores SIGTERM is released, and does not keep the process', async () => {
  await start({ DROVER_WORKER_DRAIN_SECONDS: '0', DROVER_WORKER_GRACE_SECONDS: '1' });
  const id = await submit('read', { pages: 3, waitsAt: 2, ignores: true });
  await page(id, 2);
  worker.kill('SIGTERM');
  expect(await worker.ended()).toBe(0);
  expect(await until(id, 'PENDING')).toMatchObject({ retryCount: 0, checkpointData: { page: 2 } });
  await act(id, 'cancel');
});

it('a checkpoint waits through an outage, and the run continues', async () => {
  const proxy = await FaultyProxy.to(`http://127.0.0.1:${fleet.port}`);
  await start({ DROVER_API_URL: proxy.url, DROVER_WORKER_STALE_SECONDS: '30' });
  const id = await submit('read', { pages: 200 });
  await waitFor('the first pages', async () => Number((await fleet.task(id))['progressPercent']));
  proxy.cut();
  await waitFor('the worker to notice', () => worker.count('Call failed; trying again') > 0);
  proxy.mend();
  expect(await until(id, 'COMPLETED')).toMatchObject({
    outputResult: { begun: 0, pages: 200 },
    retryCount: 0,
  });
  await worker.stop();
  await proxy.close();
});

it('a second process of the program takes the next name, and one with its own name is refused', async () => {
  const shared = { DROVER_WORKER_NAME: '', DROVER_WORKER_DATA_DIR: `${fleet.folder}/shared` };
  const first = await start(shared);
  const second = await start(shared);
  const agents = [first, second].map((one) => one.all('Registered')[0]?.['agentId']);
  expect(new Set(agents).size).toBe(2);
  const named = { ...shared, DROVER_WORKER_NAME: 'mine' };
  const third = await start(named);
  await expect(start(named)).rejects.toThrow(/already works with this data folder/);
  await Promise.all([first.stop(), third.stop()]);
});
