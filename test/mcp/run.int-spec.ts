import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedServer, type TestServer, type TestWorkspace } from '../support/shared-server.js';
import { aKey, aRun, claimed, closeClients, mcpClient, VIAS } from './clients.js';

/** What executes a run, by tools alone. */

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await sharedServer();
  workspace = await app.newWorkspace();
});
afterEach(closeClients);
afterAll(() => app.stop());

const taskOf = async (id: string) => (await workspace.api.get(`/agent-tasks/${id}`)).body;

describe.each(VIAS)('over %s', (via) => {
  it('offers the tools of a run, and no others', async () => {
    const { token } = await aRun(workspace);
    const { tools } = await mcpClient(via, app, token);
    expect(await tools()).toEqual([
      'add_log',
      'ask_person',
      'check_budget',
      'complete',
      'create_subtask',
      'fail',
      'get_task',
      'read_answers',
      'release',
      'report_progress',
      'report_usage',
      'save_checkpoint',
      'start',
    ]);
  });

  it('works on a task from its beginning to its end', async () => {
    const inputContext = { page: 7 };
    const { taskId, token } = await aRun(workspace, { inputContext });
    const { call } = await mcpClient(via, app, token);

    expect((await call('get_task')).data).toMatchObject({ id: taskId, inputContext });
    expect((await call('start')).data).toMatchObject({ taskId, status: 'RUNNING' });
    await call('report_progress', { progressPercent: 40, currentStep: 'paragraph 4' });
    await call('save_checkpoint', { checkpointData: { paragraph: 4 } });
    await call('add_log', { entries: [{ message: 'a table', level: 'WARN' }] });
    expect((await call('check_budget')).data).toMatchObject({ advice: 'continue' });
    const report = { id: 'p4', model: 'claude-sonnet-4', inputTokens: 5200, outputTokens: 640 };
    expect((await call('report_usage', { reports: [report] })).data).toMatchObject({ accepted: 1 });
    expect(await taskOf(taskId)).toMatchObject({
      progressPercent: 40,
      currentStep: 'paragraph 4',
      checkpointData: { paragraph: 4 },
    });

    const subtask = await call('create_subtask', { title: 'The table', taskType: 'translation' });
    expect(subtask.data).toMatchObject({ parentTaskId: taskId, status: 'PENDING' });
    const done = await call('complete', { outputResult: { words: 412 }, summary: 'Translated' });
    expect(done.data).toMatchObject({ taskId, status: 'COMPLETED' });
    expect(await taskOf(taskId)).toMatchObject({ outputResult: { words: 412 } });
    const log = await workspace.api.get<{ items: object[] }>(`/agent-tasks/${taskId}/logs`);
    expect(log.body.items).toContainEqual(expect.objectContaining({ message: 'a table' }));
  });

  it('fails with a class, and gives back with a checkpoint', async () => {
    const failing = await aRun(workspace);
    const first = await mcpClient(via, app, failing.token);
    await first.call('start');
    await first.call('fail', { message: 'no dictionary', class: 'setup' });
    expect(await taskOf(failing.taskId)).toMatchObject({ status: 'FAILED' });

    const released = await aRun(workspace);
    const second = await mcpClient(via, app, released.token);
    await second.call('release', { reason: 'later', checkpointData: { paragraph: 5 } });
    const checkpointData = { paragraph: 5 };
    expect(await taskOf(released.taskId)).toMatchObject({ status: 'PENDING', checkpointData });
  });

  it('asks a person, whose assistant hands on the answer', async () => {
    const held = await aRun(workspace);
    const run = await mcpClient(via, app, held.token);
    await run.call('start');
    const asked = await run.call('ask_person', {
      prompt: 'Send it today?',
      choices: ['yes', 'no'],
      deadlineSeconds: 3_600,
      onDeadline: 'fail',
      checkpointData: { draft: 'Dear all' },
    });
    expect(asked).toMatchObject({ isError: false, data: { taskId: held.taskId, status: 'open' } });
    expect(await run.call('complete')).toMatchObject({ data: { code: 'stale_run' } });

    const reader = await mcpClient(via, app, await aKey(workspace, { scopes: ['tasks:read'] }));
    expect(await reader.tools()).not.toContain('answer_question');
    const scopes = ['tasks:read', 'questions:answer'];
    const assistant = await mcpClient(via, app, await aKey(workspace, { scopes }));
    const waiting = await assistant.call('list_questions', { taskId: held.taskId, status: 'open' });
    const [question] = waiting.data.items as { id: string }[];
    const questionId = question?.id;
    const refused = await assistant.call('answer_question', { questionId, answer: 'perhaps' });
    expect(refused).toMatchObject({ isError: true, data: { code: 'validation_failed' } });
    await assistant.call('answer_question', { questionId, answer: 'yes' });
    const checkpointData = { draft: 'Dear all' };
    expect(await taskOf(held.taskId)).toMatchObject({ status: 'PENDING', checkpointData });
    const next = await mcpClient(via, app, await claimed(held.agent, held.taskId));
    expect((await next.call('read_answers')).data).toMatchObject({
      items: [{ prompt: 'Send it today?', answer: 'yes' }],
    });
  });

  it('says that the run is over, and what to do', async () => {
    const { taskId, token } = await aRun(workspace);
    const { call } = await mcpClient(via, app, token);
    await workspace.api.post(`/agent-tasks/${taskId}/cancel`);
    const { isError, text, data } = await call('report_progress', { progressPercent: 50 });
    expect({ isError, data }).toMatchObject({ isError: true, data: { code: 'stale_run' } });
    expect(text).toMatch(/^Refused \(stale_run\): .*Stop the work/);
  });

  it('makes one subtask for one idempotency key', async () => {
    const { token } = await aRun(workspace);
    const { call } = await mcpClient(via, app, token);
    const asked = { title: 'Once', taskType: 'translation', idempotencyKey: 'run-1/once' };
    const first = await call('create_subtask', asked);
    expect((await call('create_subtask', asked)).data.id).toBe(first.data.id);
  });
});
