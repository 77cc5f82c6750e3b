import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedServer, type TestServer, type TestWorkspace } from '../support/shared-server.js';
import {
  createKey,
  claimRun,
  claimToken,
  closeClients,
  connectClient,
  connectCodingAgent,
  VIAS,
} from './clients.js';

/** A run that uses tools only. */

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
  it('a run token sees the tools of a run only', async () => {
    const { token } = await claimRun(workspace);
    const { tools } = await connectClient(via, app, token);
    expect(await tools()).toEqual([
      'add_log',
      'ask_person',
      'check_budget',
      'complete',
      'create_subtask',
      'fail',
      'get_change',
      'get_task',
      'read_answers',
      'release',
      'report_progress',
      'report_usage',
      'save_checkpoint',
      'start',
    ]);
  });

  it('a run works on its task from start to completion', async () => {
    const inputContext = { page: 7 };
    const { taskId, token } = await claimRun(workspace, { inputContext });
    const { call } = await connectClient(via, app, token);

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

  it('a run fails with a class or releases its task with a checkpoint', async () => {
    const failing = await claimRun(workspace);
    const first = await connectClient(via, app, failing.token);
    await first.call('start');
    await first.call('fail', { message: 'no dictionary', class: 'setup' });
    expect(await taskOf(failing.taskId)).toMatchObject({ status: 'FAILED' });

    const released = await claimRun(workspace);
    const second = await connectClient(via, app, released.token);
    await second.call('release', { reason: 'later', checkpointData: { paragraph: 5 } });
    const checkpointData = { paragraph: 5 };
    expect(await taskOf(released.taskId)).toMatchObject({ status: 'PENDING', checkpointData });
  });

  it('a question of a run gets the answer of an assistant', async () => {
    const held = await claimRun(workspace);
    const run = await connectClient(via, app, held.token);
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

    const reader = await connectClient(
      via,
      app,
      await createKey(workspace, { scopes: ['tasks:read'] }),
    );
    expect(await reader.tools()).not.toContain('answer_question');
    const scopes = ['tasks:read', 'questions:answer'];
    const assistant = await connectClient(via, app, await createKey(workspace, { scopes }));
    const waiting = await assistant.call('list_questions', { taskId: held.taskId, status: 'open' });
    const [question] = waiting.data.items as { id: string }[];
    const questionId = question?.id;
    const refused = await assistant.call('answer_question', { questionId, answer: 'perhaps' });
    expect(refused).toMatchObject({ isError: true, data: { code: 'validation_failed' } });
    await assistant.call('answer_question', { questionId, answer: 'yes' });
    const checkpointData = { draft: 'Dear all' };
    expect(await taskOf(held.taskId)).toMatchObject({ status: 'PENDING', checkpointData });
    const next = await connectClient(via, app, await claimToken(held.agent, held.taskId));
    expect((await next.call('read_answers')).data).toMatchObject({
      items: [{ prompt: 'Send it today?', answer: 'yes' }],
    });
  });

  it('a tool of an ended run answers stale_run with advice', async () => {
    const { taskId, token } = await claimRun(workspace);
    const { call } = await connectClient(via, app, token);
    await workspace.api.post(`/agent-tasks/${taskId}/cancel`);
    const { isError, text, data } = await call('report_progress', { progressPercent: 50 });
    expect({ isError, data }).toMatchObject({ isError: true, data: { code: 'stale_run' } });
    expect(text).toMatch(/^Refused \(stale_run\): .*Stop the work/);
  });

  it('a repeated idempotency key creates one subtask', async () => {
    const { token } = await claimRun(workspace);
    const { call } = await connectClient(via, app, token);
    const asked = { title: 'Once', taskType: 'translation', idempotencyKey: 'run-1/once' };
    const first = await call('create_subtask', asked);
    expect((await call('create_subtask', asked)).data.id).toBe(first.data.id);
  });
});

describe('a coding agent', () => {
  it('it has no tools for the work of its host', async () => {
    const { token } = await claimRun(workspace);
    const { client, tools, call } = await connectCodingAgent(app, token);
    expect(await tools()).toEqual([
      'add_log',
      'ask_person',
      'check_budget',
      'create_subtask',
      'get_change',
      'get_task',
      'read_answers',
      'report_progress',
      'save_checkpoint',
    ]);
    expect(client.getInstructions()).not.toMatch(/complete|checkpoint/);
    expect(await call('complete')).toMatchObject({ isError: true });
  });

  it('its question leaves its checkpoint unchanged', async () => {
    const { taskId, token } = await claimRun(workspace);
    const checkpointData = { verse: 3 };
    const { call } = await connectCodingAgent(app, token);
    await call('save_checkpoint', { checkpointData });
    const question = { prompt: 'Which year?', deadlineSeconds: 600, onDeadline: 'fail' };
    const refused = await call('ask_person', { ...question, checkpointData: {} });
    expect(refused).toMatchObject({ isError: true });
    expect(await call('ask_person', question)).toMatchObject({ data: { status: 'open' } });
    expect(await taskOf(taskId)).toMatchObject({ pausedFor: 'question', checkpointData });
  });

  it('the address accepts no other value than true and false', async () => {
    const { token } = await claimRun(workspace);
    const response = await fetch(`${app.url}/mcp?hosted=maybe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'validation_failed' });
  });
});
