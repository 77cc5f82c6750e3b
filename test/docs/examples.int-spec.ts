import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { SECRET, TestGateway } from '../../apps/gateway/testing/gateway-process.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../support/app.js';
import { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

/** Runs the examples as they stand there, beside a server, a worker and a gateway. */

const examples = join(import.meta.dirname, '../../examples');

let app: TestApp;
let workspace: TestWorkspace;
let gateway: TestGateway;
let worker: BuiltProcess;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  const port = await freePort();
  app = await startTestApp({
    ROLES: 'api,coordinator',
    GATEWAY_URL: `http://127.0.0.1:${port}`,
    GATEWAY_SECRET: SECRET,
  });
  gateway = await new TestGateway({
    DROVER_API_URL: app.url,
    GATEWAY_SESSIONS_API_URL: app.url,
    PORT: String(port),
  }).start();
  folder = mkdtempSync(join(tmpdir(), 'drover-examples-'));
  workspace = await app.newWorkspace();
  const wanted = { name: 'examples', role: 'MEMBER', scopes: ['agents:write', 'tasks:write'] };
  const path = `/workspaces/${workspace.id}/api-keys`;
  const { body } = await workspace.api.post<{ key: string }>(path, wanted);
  env = { DROVER_URL: app.url, DROVER_API_KEY: body.key };
  worker = BuiltProcess.start('apps/worker/main.js', {
    DROVER_API_URL: app.url,
    DROVER_API_KEY: body.key,
    DROVER_WORKER_DATA_DIR: join(folder, 'worker'),
  });
  await worker.said('Registered');
});

afterAll(async () => {
  await worker.stop();
  await gateway.dispose();
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

function start(program: string, args: string[], more: Record<string, string> = {}): ChildProcess {
  return spawn(program, args, {
    env: { ...process.env, NODE_OPTIONS: '', ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function submit(values: Record<string, unknown>): Promise<string> {
  const task = { title: 'An example', taskType: 'example', ...values };
  const { status, body } = await workspace.api.post<{ id: string }>('/agent-tasks', task);
  expect(status).toBe(201);
  return body.id;
}

/** @returns its result */
async function completed(id: string): Promise<unknown> {
  return waitFor('the task to complete', async () => {
    const { body } = await workspace.api.get(`/agent-tasks/${id}`);
    return body['status'] === 'COMPLETED' ? body['outputResult'] : undefined;
  });
}

/** Compiles TypeScript to JavaScript, for a Node that cannot read TypeScript. */
function compiled(): string {
  const source = readFileSync(join(examples, 'agent.ts'), 'utf8');
  const file = join(folder, 'agent.mjs');
  const jsc = { parser: { syntax: 'typescript' }, target: 'es2022' } as const;
  writeFileSync(file, transformSync(source, { swcrc: false, configFile: false, jsc }).code);
  return file;
}

describe('The example', () => {
  it.each([
    ['agent.py', () => ['python3', join(examples, 'agent.py')]],
    ['agent.ts', () => [process.execPath, compiled()]],
    ['agent.sh', () => ['bash', join(examples, 'agent.sh')]],
  ])('the example %s works on a task, and stops when it is asked to', async (_, command) => {
    const [program = '', ...args] = command();
    const id = newId();
    const agent = start(program, args, { AGENT_ID: id });
    await once(agent.stdout as NonNullable<typeof agent.stdout>, 'data');
    const input = { text: 'one two\nthree  four five\n' };
    const task = await submit({ requiredCapabilities: ['count-words'], inputContext: input });
    expect(await completed(task)).toEqual({ words: 5 });
    const { body } = await workspace.api.get(`/agent-tasks/${task}`);
    expect(body).toMatchObject({ retryCount: 0 });
    agent.kill('SIGTERM');
    expect(await once(agent, 'exit')).toEqual([0, null]);
    expect((await workspace.api.get(`/agents/${id}`)).body).toMatchObject({
      status: 'TERMINATED',
    });
  });

  it('the example task_graph.py completes the parts before the whole', async () => {
    const graph = start('python3', [join(examples, 'task_graph.py')]);
    const said = await text(graph.stdout as NonNullable<typeof graph.stdout>);
    const done = said.split('\n').filter((line) => line.endsWith(': COMPLETED'));
    expect(done.at(-1)).toBe('Whole: COMPLETED');
    expect(done.sort()).toEqual(['Left half', 'Right half', 'Whole'].map((t) => `${t}: COMPLETED`));
  });

  it('the example ask.sh asks a person, and resumes with the answer', async () => {
    const command = ['bash', '-c', readFileSync(join(examples, 'ask.sh'), 'utf8')];
    const task = await submit({ inputContext: { command } });
    const question = await waitFor('a question', async () => {
      const { body } = await workspace.api.get<{ items: { id: string }[] }>(
        `/questions?status=open&taskId=${task}`,
      );
      return body.items[0];
    });
    expect(question).toMatchObject({ prompt: 'Send it?', default: 'no' });
    await workspace.api.post(`/questions/${question.id}/answer`, { answer: 'yes' });
    expect(await completed(task)).toEqual({ draft: 'Dear all', sent: true });
    const { body } = await workspace.api.get(`/agent-tasks/${task}`);
    expect(body).toMatchObject({ retryCount: 0, generation: 2 });
  });

  it('the example push_agent.py is started for a task', async () => {
    const agent = start('python3', [join(examples, 'push_agent.py'), 'register']);
    const said = await text(agent.stdout as NonNullable<typeof agent.stdout>);
    expect(said).toMatch(/^[0-9a-f-]{36}\n$/);
    const names = ['Ada', 'Grace'];
    const task = await submit({ requiredCapabilities: ['greet'], inputContext: { names } });
    expect(await completed(task)).toEqual({ greetings: ['Hello, Ada', 'Hello, Grace'] });
  });
});
