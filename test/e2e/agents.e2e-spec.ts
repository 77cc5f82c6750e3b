import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { kindOf, type Provider } from '#lib/agent-kinds';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { PIXEL } from '../support/pixel.js';
import { aGreeter } from '../../libs/agents/agent-kinds/testing/greeter.js';
import { AGENTS, agentProgram } from '../support/agent-programs.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import {
  type Conversation,
  type ModelServer,
  type Script,
  startModelServer,
  type Turn,
} from '../support/model-server/index.js';
import { waitFor } from '../support/wait-for.js';
import { expectUsage } from '../support/usage.js';
import { Program } from './program.js';

interface Question {
  id: string;
  prompt: string;
}

const KEY = 'sk-canary-0123456789abcdef0123456789abcdef';
/** The stand-in answers for any model. This one has a price. */
const MODEL = 'claude-haiku-4-5';

let fleet: TestFleet;
let worker: BuiltProcess;
let startWorker: (name: string) => Promise<BuiltProcess>;
let models: ModelServer | undefined;

beforeAll(async () => {
  await Promise.all(['codex', 'gemini-cli'].map((name) => agentProgram(kindOf(name)!)));
  const sandbox = await testSandbox();
  fleet = await TestFleet.atSharedServer();
  startWorker = (name) =>
    fleet.startWorker(name, {
      DROVER_AGENTS: AGENTS,
      DROVER_WORKER_LOG_LEVEL: 'debug',
      ...(sandbox && variablesOf(sandbox)),
    });
  worker = await startWorker('agents');
}, 240_000);
afterEach(() => models?.close());
afterAll(() => fleet.stop());

async function run(
  script: Script,
  values: object = {},
  provider: Provider = 'openai',
): Promise<string> {
  models = await startModelServer(script);
  const set = await fleet.api.put(`/model-providers/${provider}`, {
    key: KEY,
    baseUrl: models.url,
  });
  expect(set.status).toBe(200);
  const { status, body } = await fleet.api.post<{ id: string }>('/agent-tasks', {
    title: 'Write a haiku',
    taskType: 'agent',
    agent: { kind: 'codex', model: MODEL },
    instructions: 'Write it into haiku.txt.',
    maxRetries: 0,
    ...values,
  });
  expect(status).toBe(201);
  return body.id;
}

const untilStatus = (id: string, ...statuses: string[]) =>
  waitFor(`${id} to be ${statuses.join(' or ')}`, async () => {
    const task = await fleet.task(id);
    return statuses.includes(task['status'] as string) ? task : undefined;
  });

/** The command line as the owner of the workspace. */
function drover(words: string[], input: 'ignore' | 'pipe' = 'ignore'): Program {
  const script = 'dist/apps/cli/main.js';
  return new Program(script, words, fleet.access, undefined, process.execPath, input);
}

const logOf = (id: string) => fleet.logOf(id);

/** `requests` is the number of the stand-in's answers. */
const expectUsageAsServed = (taskId: string, requests: number) =>
  expectUsage(fleet, taskId, { ...models!.served(), requests });

async function fileOf(id: string, name: string): Promise<string> {
  const out = join(fleet.folder, `files-${id}`);
  expect(await drover(['artifact', 'get', id, '--out', out]).ended).toBe(0);
  return readFileSync(join(out, name), 'utf8');
}

describe('a task with the coding agent Gemini CLI', () => {
  it('the agent edits a file with the key at its host, and each token is counted', async () => {
    const id = await run(
      [
        { calls: [{ write: 'haiku.txt', content: 'queues\n' }] },
        { calls: [{ run: "sed -i 's/queues/rows/' haiku.txt && cat haiku.txt; env" }] },
        { text: 'The haiku is edited.' },
      ],
      { agent: { kind: 'gemini-cli', model: 'gemini-2.5-pro' } },
      'gemini',
    );
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'The haiku is edited.' });
    expect(await fileOf(id, 'haiku.txt')).toBe('rows\n');
    const asked = models!.requests.filter(({ path }) => path.includes(':streamGenerateContent'));
    expect(asked.map(({ headers }) => headers['x-goog-api-key'])).toEqual([KEY, KEY, KEY]);
    expect(JSON.stringify([task, await logOf(id), asked.map(({ body }) => body)])).not.toContain(
      KEY,
    );
    await expectUsageAsServed(id, 3);
  });
});

describe('a task with the coding agent Codex', () => {
  it('the agent changes a file, its key stays with its host, and each token is counted', async () => {
    const id = await run([
      { calls: [{ write: 'haiku.txt', content: 'queues\n' }] },
      { calls: [{ run: 'cat haiku.txt; env; cat /proc/self/environ; ls /run' }] },
      { calls: [{ tool: 'save_checkpoint', input: { checkpointData: { verse: 3 } } }] },
      { text: 'The haiku is written.' },
    ]);
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'The haiku is written.' });
    // The agent's own checkpoint, and nothing of its worker.
    expect(task['checkpointData']).toEqual({ verse: 3 });

    const entries = await logOf(id);
    const said = (event: string) =>
      entries.filter((entry) => entry.event === event).map(({ message }) => message);
    expect(said('agent_message')).toEqual(['The haiku is written.']);
    expect(said('agent_tool')).toHaveLength(3);
    expect(said('agent_tool_result').join('\n')).toContain('queues');
    expect(JSON.stringify([task, entries])).not.toContain(KEY);

    const { requests = [] } = models ?? {};
    const asked = requests.filter(({ path }) => path.includes('/responses'));
    expect(asked).toHaveLength(4);
    for (const { headers } of asked) expect(headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(requests.map(({ body }) => body))).not.toContain(KEY);

    await expectUsageAsServed(id, 4);
  });

  it('drover run prints its messages and tool calls, downloads its files, and exits with 0', async () => {
    await run([{ text: 'for the key' }]);
    await models?.close();
    models = await startModelServer([
      { calls: [{ write: 'haiku.txt', content: 'queues\n' }] },
      { calls: [{ run: 'cp ../attachments/sketch.png "$DROVER_ARTIFACTS/kept.png"' }] },
      { text: 'Seventeen syllables.' },
    ]);
    await fleet.api.put('/model-providers/openai', { key: KEY, baseUrl: models.url });
    const out = join(fleet.folder, 'out');
    const sketch = join(fleet.folder, 'sketch.png');
    writeFileSync(sketch, Buffer.from(PIXEL, 'base64'));
    const files = ['--attach', sketch, '--out', out];
    const words = ['run', '--agent', `codex:${MODEL}`, 'Write a haiku', ...files];
    const running = drover(words);
    expect([await running.ended, running.output]).toEqual([
      0,
      expect.stringMatching(/haiku\.txt[^]*Seventeen syllables\./),
    ]);
    expect(readdirSync(out).sort()).toEqual(['haiku.txt', 'kept.png']);
    expect(readFileSync(join(out, 'kept.png'), 'base64')).toBe(PIXEL);
    expect(JSON.stringify(models.requests.map(({ body }) => body))).toContain('"input_image"');
    expect(readFileSync(join(out, 'haiku.txt'), 'utf8')).toBe('queues\n');
  });

  it('the agent has the tools of its run, and its conversation continues with an answer', async () => {
    const [currentStep, prompt] = ['The second line', 'Five or seven?'];
    const question = { prompt, choices: ['5', '7'], deadlineSeconds: 600, onDeadline: 'fail' };
    const { body: project } = await fleet.api.post<{ id: string }>('/projects', { name: 'Poems' });
    const instructions = 'Count the syllables.';
    const mcpServers = [aGreeter('Hello'), { name: 'away', url: 'https://mcp.example.com' }];
    await fleet.api.patch(`/projects/${project.id}`, { instructions, mcpServers });
    const script: Script = [
      { calls: [{ tool: 'report_progress', input: { progressPercent: 40, currentStep } }] },
      { calls: [{ tool: 'ask_person', input: question }] },
      { calls: [{ tool: 'greet', input: { name: 'Ada' } }] },
      { text: 'Seven syllables.' },
    ];
    const id = await run(script, { projectId: project.id });
    const paused = await untilStatus(id, 'PAUSED', 'COMPLETED', 'FAILED');
    expect(paused).toMatchObject({ pausedFor: 'question', progressPercent: 40, currentStep });
    const { body: asked } = await fleet.api.get<{ items: (Question & { runId: string })[] }>(
      `/questions?status=open&taskId=${id}`,
    );
    expect(asked.items).toMatchObject([{ prompt, choices: ['5', '7'], runWaits: false }]);
    const [{ id: questionId, runId }] = asked.items as [Question & { runId: string }];
    const folder = join(fleet.folder, 'agents', '**', runId);
    await waitFor('the end of the session', () => globSync(folder).length === 0);
    await fleet.api.post(`/questions/${questionId}/answer`, { answer: '7' });
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED', 'PAUSED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Seven syllables.', retryCount: 0 });
    const [first, , resumed, last, ...more] = models!.requests
      .filter(({ path }) => path.endsWith('/responses'))
      .map(({ body }) => JSON.stringify(body));
    expect(more).toEqual([]);
    expect(resumed).toMatch(/ask_person[^]*Answers of people[^]*Five or seven[^]*Answer: 7/);
    expect(first).toContain(instructions);
    // The values of variables are secrets, also in its results.
    expect(last).toMatch(/Hello, [\\"]+Ada/);
    const notes = (await logOf(id)).map(({ message }) => message);
    expect(notes).toContainEqual(expect.stringMatching(/^\[redacted\], "Ada"/));
    expect(notes).toContainEqual(
      expect.stringMatching(/no MCP server away: .* mcp\.example\.com:443, because its network is/),
    );
    for (const tool of ['get_task', 'create_subtask', 'add_log']) {
      expect(first).toContain(`"name":"${tool}"`);
    }
    // The worker ends the run.
    for (const tool of ['complete', 'fail', 'report_usage']) {
      expect(first).not.toContain(`"name":"${tool}"`);
    }
    await expectUsageAsServed(id, 4);
  });

  it('the agent asks for permissions and gets them from a person', async () => {
    const id = await run(
      [
        { calls: [{ run: 'echo queues > haiku.txt' }] },
        { calls: [{ run: 'rm -rf haiku.txt' }] },
        { calls: [{ run: 'git push --force' }] },
        { text: 'The haiku stays.' },
      ],
      {
        agent: {
          kind: 'codex',
          model: MODEL,
          permissionMode: 'ask',
          settings: { permissions: [{ tool: 'shell', pattern: 'git push*', decision: 'deny' }] },
        },
      },
    );
    const decide = async (about: string, answer: string) => {
      const question = await waitFor(`a question about ${about}`, async () => {
        const path = `/questions?status=open&taskId=${id}`;
        const { body } = await fleet.api.get<{ items: Question[] }>(path);
        return body.items.find(({ prompt }) => prompt.includes(about));
      });
      expect(question).toMatchObject({
        runWaits: true,
        choices: ['allow once', 'allow for this run', 'deny'],
        default: 'deny',
      });
      expect((await fleet.task(id))['status']).toBe('RUNNING');
      const { status } = await fleet.api.post(`/questions/${question.id}/answer`, { answer });
      expect(status).toBe(200);
    };
    await decide('echo queues > haiku.txt', 'allow once');
    await decide('rm -rf haiku.txt', 'deny');
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'The haiku stays.' });
    const notes = (await logOf(id))
      .filter(({ event }) => event === 'agent_permission')
      .map(({ message }) => message);
    expect(notes).toEqual([
      expect.stringContaining('Permission asked'),
      expect.stringContaining('"allow once"'),
      expect.stringContaining('Permission asked'),
      expect.stringContaining('"deny"'),
      expect.stringContaining('Denied by a rule'),
    ]);
  });

  it('a message is heard after the turn, and another one instead of the rest of a turn', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const second = [{ text: 'It never ends.', chunks: 3, hangAfter: 1 }, { text: 'Third.' }];
    const id = await run(() => [{ text: 'First.', beforeChunk: () => released }, ...second]);
    const untilAsked = (times: number) =>
      waitFor(`request ${times} of the agent`, () => {
        const asked = models?.requests.filter(({ path }) => path.includes('/responses'));
        return asked?.length === times;
      });
    await untilAsked(1);
    const { runId } = await fleet.task(id);
    const attached = drover(['attach', id], 'pipe');
    expect(await drover(['task', 'message', id, 'Now the second.']).ended).toBe(0);
    await worker.said('Message to a run received');
    release();
    await untilAsked(2);
    // The stand-in knows only whole answers, so it would repeat the one that broke off.
    second.shift();
    attached.type('!Instead, the third.\n');
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Third.' });
    const entries = (await logOf(id)).filter(({ event }) =>
      ['agent_message', 'message_delivered'].includes(event),
    );
    expect(entries.map(({ message }) => message)).toEqual([
      'First.',
      'Now the second.',
      'Instead, the third.',
      'Third.',
    ]);
    const { body } = await fleet.api.get<{ items: { state: string }[] }>(
      `/runs/${String(runId)}/messages`,
    );
    expect(body.items.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(await attached.ended).toBe(0);
    // The agent's words and those of people come through two pipes, whose order is not fixed.
    expect(attached.output).toMatch(/First\.[^]*Third\./);
    expect(attached.output).toMatch(/> Now the second\.[^]*> Instead, the third\./);
    const late = { text: 'Too late.', deliver: 'turn_end' };
    expect((await fleet.api.post(`/runs/${String(runId)}/messages`, late)).status).toBe(409);

    const continued = drover(['task', 'continue', id, 'Now the fourth.']);
    expect(await continued.ended).toBe(0);
    const next = await untilStatus(continued.output.trim(), 'COMPLETED', 'FAILED', 'ABORTED');
    expect(next).toMatchObject({ status: 'COMPLETED', continuesId: id });
    // The conversation itself, with the answers of the model, and not a summary of it.
    const words = JSON.stringify(models?.requests.at(-1)?.body);
    expect(words).toMatch(/First\.[^]*Third\.[^]*Now the fourth\./);
    expect(words).not.toContain('End of the earlier conversation');
  });

  it('a task pauses after the turn of its agent, and resumes in the same conversation', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const id = await run([{ text: 'First.', beforeChunk: () => released }, { text: 'Second.' }]);
    await waitFor('the first request', () =>
      models?.requests.some(({ path }) => path.includes('/responses')),
    );
    expect(await drover(['task', 'pause', id, '--after-turn']).ended).toBe(0);
    await worker.said('Pause after the turn');
    expect(await drover(['task', 'message', id, 'Now the second.']).ended).toBe(0);
    release();
    await waitFor('the end of the run', async () => (await fleet.task(id))['runId'] === null);
    expect(await fleet.task(id)).toMatchObject({ status: 'PAUSED', pausedFor: 'request' });
    expect((await logOf(id)).map(({ message }) => message)).toContain('First.');
    expect(await drover(['task', 'resume', id]).ended).toBe(0);
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Second.', retryCount: 0 });
    const words = JSON.stringify(models?.requests.at(-1)?.body);
    expect(words).toMatch(/First\.[^]*Now the second\./);
    expect(words).not.toContain('End of the earlier conversation');
  });

  it('a provider that refuses for a while holds the task back at no attempt', async () => {
    const id = await run([{ fails: { status: 429, retryAfter: 3_600 } }]);
    await waitFor('the limit of the provider', async () => {
      const { body } = await fleet.api.get<{ items: { model: string }[] }>('/provider-limits');
      return body.items.some(({ model }) => model === MODEL || model === null);
    });
    expect(await untilStatus(id, 'PENDING', 'PAUSED')).toMatchObject({ retryCount: 0 });
    await fleet.db.owner.query('DELETE FROM provider_limits WHERE workspace_id = $1', [
      fleet.workspaceId,
    ]);
    await fleet.api.post(`/agent-tasks/${id}/cancel`, {});
  });

  it('a fallback answers while the provider refuses the model', async () => {
    const other = 'claude-sonnet-4-5';
    const route = (models: string[]) => {
      const fallbacks = models.map((model) => ({ model: MODEL, models: [model] }));
      const routing = { enabled: false, rules: [], tiers: {}, fallbacks };
      return fleet.api.put('/model-routing', routing);
    };
    expect((await route([other])).status).toBe(200);
    const fails = { status: 429, retryAfter: 3_600, times: 1 } as const;
    const id = await run([{ calls: [{ run: 'true' }], fails }, { text: 'Another one wrote it.' }]);
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ summary: 'Another one wrote it.', retryCount: 0 });
    const asked = models!.requests.filter(({ path }) => path.endsWith('/responses'));
    expect(asked.map(({ body }) => body.model)).toEqual([MODEL, other, other]);
    const { rows } = await fleet.db.owner.query<{ model: string }>(
      'SELECT model FROM agent_usage_logs WHERE task_id = $1',
      [id],
    );
    expect(rows.map(({ model }) => model)).toEqual([other, other]);
    const notes = (await logOf(id)).filter(({ event }) => event === 'model_replaced');
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        `^The model "${other}" answered instead of "${MODEL}"\\. .* rate limited`,
      ),
    ]);
    await route([]);
  });

  it('a model that its project does not allow fails the run, and the log says why', async () => {
    const { body: project } = await fleet.api.post<{ id: string }>('/projects', { name: 'Sonnet' });
    const set = ['project', 'set', project.id, '--allowed-model', 'claude-sonnet-*'];
    expect(await drover(set).ended).toBe(0);
    const values = { projectId: project.id, agent: { kind: 'codex' } };
    const id = await run([{ text: 'never' }], values);
    const task = await untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    const reason = expect.stringMatching(
      /is not allowed: its project allows only claude-sonnet-\*\./,
    );
    expect(task).toMatchObject({ status: 'FAILED', lastError: reason });
    const refused = (await logOf(id)).filter(({ event }) => event === 'model_not_allowed');
    expect(refused.map(({ message }) => message)).toEqual([reason]);
    expect(models!.requests.filter(({ path }) => path.endsWith('/responses'))).toEqual([]);
  });

  it('a budget refuses a request before it is sent, and the task continues after a raise', async () => {
    const { body: project } = await fleet.api.post<{ id: string }>('/projects', { name: 'Small' });
    const { body: budget } = await fleet.api.post<{ id: string }>('/budgets', {
      scope: 'project',
      scopeId: project.id,
      allocated: 5_000,
      recurrence: { every: 'month' },
    });
    const values = { projectId: project.id, estimatedTokens: 100 };
    const id = await run([{ text: 'The budget was raised.' }], values);
    expect(await untilStatus(id, 'PAUSED', 'COMPLETED', 'ABORTED')).toMatchObject({
      status: 'PAUSED',
      pausedFor: 'budget',
      retryCount: 0,
    });
    const answers = () => models!.requests.filter(({ path }) => path.endsWith('/v1/responses'));
    expect(answers()).toEqual([]);
    const counts = models!.requests.filter(({ path }) => path.endsWith('/input_tokens'));
    expect(counts).toHaveLength(1);
    const refused = await waitFor('the reason in the log', async () =>
      (await logOf(id)).find(({ event }) => event === 'budget_refused'),
    );
    expect(refused.message).toMatch(/^The budget of its project/);

    await fleet.api.patch(`/budgets/${budget.id}`, { allocated: 10_000_000 });
    // The raise may come before the worker released the run: then the task is ABORTED for a moment.
    expect(await untilStatus(id, 'COMPLETED', 'FAILED')).toMatchObject({
      status: 'COMPLETED',
      summary: 'The budget was raised.',
      retryCount: 0,
    });
    const { body: after } = await fleet.api.get<Record<string, string>>(`/budgets/${budget.id}`);
    expect(answers()).toHaveLength(1);
    const { input, output, cacheRead } = models!.served();
    expect(after).toMatchObject({ consumed: String(input + output + cacheRead), reserved: '0' });
  });

  it('a run without a key of its provider fails, and says so', async () => {
    const id = await run([{ text: 'never' }]);
    await untilStatus(id, 'COMPLETED');
    await fleet.api.delete('/model-providers/openai');
    const { body } = await fleet.api.post<{ id: string }>('/agent-tasks', {
      title: 'Without a key',
      taskType: 'agent',
      agent: { kind: 'codex', model: MODEL },
      maxRetries: 0,
    });
    const task = await untilStatus(body.id, 'FAILED', 'ABORTED');
    expect(task['lastError']).toMatch(/provider/i);
  });

  it('another worker resumes the conversation of a killed one, and repeats no recorded call', async () => {
    let [isKilled, release] = [false, () => {}];
    const released = new Promise<void>((resolve) => (release = resolve));
    const begun: Turn[] = [
      { calls: [{ run: 'echo once >> count.txt' }] },
      { calls: [{ run: 'echo twice' }], beforeChunk: () => released },
      { text: 'It hangs here.', chunks: 3, hangAfter: 1 },
    ];
    const id = await run((conversation) => (isKilled ? turnsAfter(conversation) : begun), {
      maxRetries: 1,
      retryBackoffSeconds: 0,
    });
    const asked = () => models!.requests.filter(({ path }) => path.endsWith('/responses'));
    await waitFor('the second request', () => asked().length === 2);
    const { runId } = await fleet.task(id);
    const home = join(fleet.folder, 'agents');
    await waitFor('the conversation with the first call to be kept', () => {
      const [rollout] = globSync(join(home, '**', String(runId), '**/rollout-*.jsonl'));
      const text = rollout === undefined ? '' : readFileSync(rollout, 'utf8');
      const kept = worker.all('State of the agent kept').at(-1)?.['conversation'];
      return text.includes('function_call_output') && kept === Buffer.byteLength(text);
    });
    release();
    const said = async (event: string) =>
      (await logOf(id)).flatMap((entry) => (entry.event === event ? [entry.message] : []));
    await waitFor('the record of the second call', async () =>
      (await said('agent_tool_result')).some((text) => text?.includes('twice')),
    );
    // At once: no kept state surely has the call.
    worker.kill('SIGKILL');
    await worker.ended();
    isKilled = true;
    worker = await startWorker('heir');
    const task = await untilStatus(id, 'COMPLETED', 'FAILED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Counted once.', retryCount: 1 });
    // The heir asks for one call and the end, behind two or three requests of the killed worker.
    const words = JSON.stringify(asked().at(-2)?.body);
    expect(words).toMatch(/Write it into haiku[^]*echo once[^]*Your session was interrupted/);
    expect(words).not.toContain('End of the earlier conversation');
    expect(words).toMatch(/Tool calls of the interrupted run[^]*- done, with [^]*echo twice/);
    expect(await said('agent_resumed')).toEqual(["Resumed the agent's conversation"]);
    expect((await said('agent_tool_result')).at(-1)?.trim()).toBe('once');
  });
});

/** One call more, and the end. */
function turnsAfter({ items }: Conversation): Turn[] {
  const results = items.filter(({ kind }) => kind === 'result');
  const isCounted = results.at(-1)?.text.includes('once') === true;
  const next = isCounted ? { text: 'Counted once.' } : { calls: [{ run: 'cat count.txt' }] };
  // The stand-in takes the turn after as many results.
  return [...results.map(() => ({ calls: [{ run: 'true' }] })), next];
}
