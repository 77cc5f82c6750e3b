import { MODEL } from '../ground.js';
import { expectEqual, expectMatch, type Trial } from '../trial.js';

const FILE = 'haiku.txt';
const SUMMARY = 'The haiku is edited.';

export const edit: Trial = {
  name: 'edits a file; the ledger equals what was served',
  async run(ground, kind) {
    await ground.needWorkers(1);
    const models = await ground.answer(kind, [
      { calls: [{ write: FILE, content: 'queues\n' }] },
      { calls: [{ run: `sed -i 's/queues/rows/' ${FILE} && cat ${FILE}` }] },
      { text: SUMMARY },
    ]);
    try {
      const id = await ground.submit(kind);
      const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
      expectEqual('the end', task.lastError, null);
      expectEqual('the summary', task.summary?.trim(), SUMMARY);
      expectEqual(FILE, await ground.fileOf(id, FILE), 'rows\n');
      const { requests, input, output, cacheRead, cacheWrite } = models.served();
      const served = input + output + cacheRead + cacheWrite;
      expectEqual('the tokens in the ledger', await ground.usedTokens(id), served);
      return `${requests} requests, ${served} tokens`;
    } finally {
      await models.close();
    }
  },
};

export const permission: Trial = {
  name: 'asks a permission and gets it from a person',
  async run(ground, kind) {
    await ground.needWorkers(1);
    const models = await ground.answer(kind, [
      { calls: [{ run: 'echo queues > asked.txt' }] },
      { text: 'It was allowed.' },
    ]);
    let id: string | undefined;
    try {
      id = await ground.submit(kind, {
        agent: { kind: kind.name, model: MODEL, permissionMode: 'ask' },
      });
      const query = { status: 'open' as const, taskId: id };
      const question = await ground.until('the question', async () => {
        const { items } = await ground.administrator.get('/api/v1/questions', {
          params: { query },
        });
        return items[0];
      });
      const params = { path: { id: question.id } };
      const body = { answer: 'allow once' };
      await ground.administrator.post('/api/v1/questions/{id}/answer', { params, body });
      const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
      expectEqual('the end', task.lastError, null);
      expectEqual('asked.txt', await ground.fileOf(id, 'asked.txt'), 'queues\n');
      return undefined;
    } finally {
      await models.close();
      await ground.clear(id);
    }
  },
};

const ALLOCATED = 1_000_000_000;
/** Less than any second request holds. */
const LOWERED = 1_000;

export const budget: Trial = {
  name: 'is stopped by a budget in the middle, and goes on when it is raised',
  async run(ground, kind) {
    await ground.needWorkers(1);
    // Lowered while the first answer is on its way: a count that uses up a large budget would exceed
    // the context of the agent, which then shortens its conversation.
    let lower: (() => Promise<unknown>) | undefined;
    const models = await ground.answer(kind, [
      {
        calls: [{ run: 'echo first; echo first >> steps.txt' }],
        beforeChunk: async () => {
          const now = lower;
          lower = undefined;
          await now?.();
        },
      },
      { text: 'The budget was raised.' },
    ]);
    let taskId: string | undefined;
    try {
      const project = await ground.administrator.post('/api/v1/projects', {
        body: { name: `Budget of ${kind.name}` },
      });
      const { id } = await ground.administrator.post('/api/v1/budgets', {
        body: {
          scope: 'project',
          scopeId: project.id,
          allocated: ALLOCATED,
          recurrence: { every: 'month' },
        },
      });
      const params = { path: { id } };
      const allot = (allocated: number) =>
        ground.administrator.patch('/api/v1/budgets/{id}', { params, body: { allocated } });
      lower = () => allot(LOWERED);
      taskId = await ground.submit(kind, { projectId: project.id, estimatedTokens: 100 });
      const paused = await ground.untilStatus(taskId, 'PAUSED', 'COMPLETED', 'FAILED');
      expectEqual('the pause', paused.pausedFor, 'budget');
      expectEqual('the retries', paused.retryCount, 0);
      const before = models.served().requests;
      await allot(ALLOCATED);
      const task = await ground.untilStatus(taskId, 'COMPLETED', 'FAILED');
      expectEqual('the end', task.status, 'COMPLETED');
      expectEqual('the summary', task.summary?.trim(), 'The budget was raised.');
      const after = await ground.administrator.get('/api/v1/budgets/{id}', { params });
      const { input, output, cacheRead, cacheWrite, requests } = models.served();
      expectEqual('consumed', Number(after.consumed), input + output + cacheRead + cacheWrite);
      expectEqual('reserved', Number(after.reserved), 0);
      return `stopped after ${before} requests of ${requests}`;
    } finally {
      await models.close();
      await ground.clear(taskId);
    }
  },
};

export const droverTools: Trial = {
  name: 'reports its progress by a tool of Drover, asks a person, and goes on with the answer',
  async run(ground, kind) {
    await ground.needWorkers(1);
    const currentStep = 'The second line';
    const question = { prompt: 'Five or seven?', deadlineSeconds: 600, onDeadline: 'fail' };
    const end = { text: 'Seven syllables.' };
    const script = [
      { calls: [{ tool: 'report_progress', input: { progressPercent: 40, currentStep } }] },
      { calls: [{ tool: 'ask_person', input: question }] },
      end,
    ];
    // Gemini CLI cannot resume within a minute. Its new conversation has the answer, too.
    const models = await ground.answer(kind, ({ prompt }) =>
      prompt.includes('Answer: Seven.') ? [end] : script,
    );
    let taskId: string | undefined;
    try {
      // Nobody allows these tools to an agent that cannot change anything else.
      const agent = { kind: kind.name, model: MODEL, permissionMode: 'read-only' as const };
      taskId = await ground.submit(kind, { agent });
      const paused = await ground.untilStatus(taskId, 'PAUSED', 'COMPLETED', 'FAILED', 'ABORTED');
      expectEqual('the pause', paused.pausedFor, 'question');
      expectEqual('the step', paused.currentStep, currentStep);
      const query = { taskId };
      const asked = async () =>
        (await ground.administrator.get('/api/v1/questions', { params: { query } })).items;
      const [{ id = '', runId = '' } = {}] = await asked();
      await ground.untilSessionEnds(runId);
      const params = { path: { id } };
      const body = { answer: 'Seven.' };
      await ground.administrator.post('/api/v1/questions/{id}/answer', { params, body });
      const task = await ground.untilStatus(taskId, 'COMPLETED', 'PAUSED', 'FAILED', 'ABORTED');
      expectEqual('the end', task.lastError, null);
      expectEqual('the summary', task.summary?.trim(), 'Seven syllables.');
      expectEqual('the questions', (await asked()).length, 1);
      const last = JSON.stringify(models.requests.at(-1)?.body);
      expectMatch('the last request', last, /Five or seven[^]*Answer: Seven\./);
      return undefined;
    } finally {
      await models.close();
      await ground.clear(taskId);
    }
  },
};
