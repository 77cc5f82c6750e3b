import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { aGreeter } from '../../libs/agents/agent-kinds/testing/greeter.js';
import type { Script } from '../support/model-server/index.js';
import { PIXEL } from '../support/pixel.js';
import { waitFor } from '../support/wait-for.js';
import { AgentGround, KEY, MODEL } from './agents/ground.js';

interface Question {
  id: string;
  prompt: string;
}

let ground: AgentGround;

beforeAll(async () => {
  ground = await AgentGround.open('codex', 'gemini-cli');
}, 240_000);
afterEach(() => ground.endTest());
afterAll(() => ground.close());

describe('a task with the coding agent Gemini CLI', () => {
  it('the agent edits a file with the key at its host, and each token is counted', async () => {
    const id = await ground.run(
      [
        { calls: [{ write: 'haiku.txt', content: 'queues\n' }] },
        { calls: [{ run: "sed -i 's/queues/rows/' haiku.txt && cat haiku.txt; env" }] },
        { text: 'The haiku is edited.' },
      ],
      { agent: { kind: 'gemini-cli', model: 'gemini-2.5-pro' } },
      'gemini',
    );
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'The haiku is edited.' });
    expect(await ground.fileOf(id, 'haiku.txt')).toBe('rows\n');
    const asked = ground.models.requests.filter(({ path }) =>
      path.includes(':streamGenerateContent'),
    );
    expect(asked.map(({ headers }) => headers['x-goog-api-key'])).toEqual([KEY, KEY, KEY]);
    expect(
      JSON.stringify([task, await ground.logOf(id), asked.map(({ body }) => body)]),
    ).not.toContain(KEY);
    await ground.expectUsageAsServed(id, 3);
  });
});

describe('a task with the coding agent Codex', () => {
  it('the agent changes a file, its key stays with its host, and each token is counted', async () => {
    const id = await ground.run([
      { calls: [{ write: 'haiku.txt', content: 'queues\n' }] },
      { calls: [{ run: 'cat haiku.txt; env; cat /proc/self/environ; ls /run' }] },
      { calls: [{ tool: 'save_checkpoint', input: { checkpointData: { verse: 3 } } }] },
      { text: 'The haiku is written.' },
    ]);
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'The haiku is written.' });
    // The agent's own checkpoint, and nothing of its worker.
    expect(task['checkpointData']).toEqual({ verse: 3 });

    const entries = await ground.logOf(id);
    const said = (event: string) =>
      entries.filter((entry) => entry.event === event).map(({ message }) => message);
    expect(said('agent_message')).toEqual(['The haiku is written.']);
    expect(said('agent_tool')).toHaveLength(3);
    expect(said('agent_tool_result').join('\n')).toContain('queues');
    expect(JSON.stringify([task, entries])).not.toContain(KEY);

    const asked = ground.asked();
    expect(asked).toHaveLength(4);
    for (const { headers } of asked) expect(headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(ground.models.requests.map(({ body }) => body))).not.toContain(KEY);

    await ground.expectUsageAsServed(id, 4);
  });

  it('drover run prints its messages and tool calls, downloads its files, and exits with 0', async () => {
    await ground.serve([
      { calls: [{ write: 'haiku.txt', content: 'queues\n' }] },
      { calls: [{ run: 'cp ../attachments/sketch.png "$DROVER_ARTIFACTS/kept.png"' }] },
      { text: 'Seventeen syllables.' },
    ]);
    const out = join(ground.fleet.folder, 'out');
    const sketch = join(ground.fleet.folder, 'sketch.png');
    writeFileSync(sketch, Buffer.from(PIXEL, 'base64'));
    const files = ['--attach', sketch, '--out', out];
    const words = ['run', '--agent', `codex:${MODEL}`, 'Write a haiku', ...files];
    const running = ground.drover(words);
    expect([await running.ended, running.output]).toEqual([
      0,
      expect.stringMatching(/haiku\.txt[^]*Seventeen syllables\./),
    ]);
    expect(readdirSync(out).sort()).toEqual(['haiku.txt', 'kept.png']);
    expect(readFileSync(join(out, 'kept.png'), 'base64')).toBe(PIXEL);
    expect(JSON.stringify(ground.models.requests.map(({ body }) => body))).toContain(
      '"input_image"',
    );
    expect(readFileSync(join(out, 'haiku.txt'), 'utf8')).toBe('queues\n');
  });

  it('the agent has the tools of its run, and its conversation continues with an answer', async () => {
    const [currentStep, prompt] = ['The second line', 'Five or seven?'];
    const question = { prompt, choices: ['5', '7'], deadlineSeconds: 600, onDeadline: 'fail' };
    const { body: project } = await ground.fleet.api.post<{ id: string }>('/projects', {
      name: 'Poems',
    });
    const instructions = 'Count the syllables.';
    const mcpServers = [aGreeter('Hello'), { name: 'away', url: 'https://mcp.example.com' }];
    await ground.fleet.api.patch(`/projects/${project.id}`, { instructions, mcpServers });
    const script: Script = [
      { calls: [{ tool: 'report_progress', input: { progressPercent: 40, currentStep } }] },
      { calls: [{ tool: 'ask_person', input: question }] },
      { calls: [{ tool: 'greet', input: { name: 'Ada' } }] },
      { text: 'Seven syllables.' },
    ];
    const id = await ground.run(script, { projectId: project.id });
    const paused = await ground.untilStatus(id, 'PAUSED', 'COMPLETED', 'FAILED');
    expect(paused).toMatchObject({ pausedFor: 'question', progressPercent: 40, currentStep });
    const { body: asked } = await ground.fleet.api.get<{ items: (Question & { runId: string })[] }>(
      `/questions?status=open&taskId=${id}`,
    );
    expect(asked.items).toMatchObject([{ prompt, choices: ['5', '7'], runWaits: false }]);
    const [{ id: questionId, runId }] = asked.items as [Question & { runId: string }];
    const folder = join(ground.fleet.folder, 'agents', '**', runId);
    await waitFor('the end of the session', () => globSync(folder).length === 0);
    await ground.fleet.api.post(`/questions/${questionId}/answer`, { answer: '7' });
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED', 'PAUSED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Seven syllables.', retryCount: 0 });
    const [first, , resumed, last, ...more] = ground
      .asked()
      .map(({ body }) => JSON.stringify(body));
    expect(more).toEqual([]);
    expect(resumed).toMatch(/ask_person[^]*Answers of people[^]*Five or seven[^]*Answer: 7/);
    expect(first).toContain(instructions);
    // The values of variables are secrets, also in its results.
    expect(last).toMatch(/Hello, [\\"]+Ada/);
    const notes = (await ground.logOf(id)).map(({ message }) => message);
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
    await ground.expectUsageAsServed(id, 4);
  });

  it('the agent asks for permissions and gets them from a person', async () => {
    const id = await ground.run(
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
        const { body } = await ground.fleet.api.get<{ items: Question[] }>(path);
        return body.items.find(({ prompt }) => prompt.includes(about));
      });
      expect(question).toMatchObject({
        runWaits: true,
        choices: ['allow once', 'allow for this run', 'deny'],
        default: 'deny',
      });
      expect((await ground.fleet.task(id))['status']).toBe('RUNNING');
      const { status } = await ground.fleet.api.post(`/questions/${question.id}/answer`, {
        answer,
      });
      expect(status).toBe(200);
    };
    await decide('echo queues > haiku.txt', 'allow once');
    await decide('rm -rf haiku.txt', 'deny');
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'The haiku stays.' });
    const notes = (await ground.logOf(id))
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

  it('a provider that refuses for a while holds the task back at no attempt', async () => {
    const id = await ground.run([{ fails: { status: 429, retryAfter: 3_600 } }]);
    await waitFor('the limit of the provider', async () => {
      const { body } = await ground.fleet.api.get<{ items: { model: string }[] }>(
        '/provider-limits',
      );
      return body.items.some(({ model }) => model === MODEL || model === null);
    });
    expect(await ground.untilStatus(id, 'PENDING', 'PAUSED')).toMatchObject({ retryCount: 0 });
    await ground.fleet.db.owner.query('DELETE FROM provider_limits WHERE workspace_id = $1', [
      ground.fleet.workspaceId,
    ]);
    await ground.fleet.api.post(`/agent-tasks/${id}/cancel`, {});
  });

  it('a fallback answers while the provider refuses the model', async () => {
    const other = 'claude-sonnet-4-5';
    const route = (models: string[]) => {
      const fallbacks = models.map((model) => ({ model: MODEL, models: [model] }));
      const routing = { enabled: false, rules: [], tiers: {}, fallbacks };
      return ground.fleet.api.put('/model-routing', routing);
    };
    expect((await route([other])).status).toBe(200);
    const fails = { status: 429, retryAfter: 3_600, times: 1 } as const;
    const id = await ground.run([
      { calls: [{ run: 'true' }], fails },
      { text: 'Another one wrote it.' },
    ]);
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ summary: 'Another one wrote it.', retryCount: 0 });
    const asked = ground.asked();
    expect(asked.map(({ body }) => body.model)).toEqual([MODEL, other, other]);
    const { rows } = await ground.fleet.db.owner.query<{ model: string }>(
      'SELECT model FROM agent_usage_logs WHERE task_id = $1',
      [id],
    );
    expect(rows.map(({ model }) => model)).toEqual([other, other]);
    const notes = (await ground.logOf(id)).filter(({ event }) => event === 'model_replaced');
    expect(notes.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        `^The model "${other}" answered instead of "${MODEL}"\\. .* rate limited`,
      ),
    ]);
    await route([]);
  });

  it('a model that its project does not allow fails the run, and the log says why', async () => {
    const { body: project } = await ground.fleet.api.post<{ id: string }>('/projects', {
      name: 'Sonnet',
    });
    const set = ['project', 'set', project.id, '--allowed-model', 'claude-sonnet-*'];
    expect(await ground.drover(set).ended).toBe(0);
    const values = { projectId: project.id, agent: { kind: 'codex' } };
    const id = await ground.run([{ text: 'never' }], values);
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    const reason = expect.stringMatching(
      /is not allowed: its project allows only claude-sonnet-\*\./,
    );
    expect(task).toMatchObject({ status: 'FAILED', lastError: reason });
    const refused = (await ground.logOf(id)).filter(({ event }) => event === 'model_not_allowed');
    expect(refused.map(({ message }) => message)).toEqual([reason]);
    expect(ground.asked()).toEqual([]);
  });

  it('a budget refuses a request before it is sent, and the task continues after a raise', async () => {
    const { body: project } = await ground.fleet.api.post<{ id: string }>('/projects', {
      name: 'Small',
    });
    const { body: budget } = await ground.fleet.api.post<{ id: string }>('/budgets', {
      scope: 'project',
      scopeId: project.id,
      allocated: 5_000,
      recurrence: { every: 'month' },
    });
    const values = { projectId: project.id, estimatedTokens: 100 };
    const id = await ground.run([{ text: 'The budget was raised.' }], values);
    expect(await ground.untilStatus(id, 'PAUSED', 'COMPLETED', 'ABORTED')).toMatchObject({
      status: 'PAUSED',
      pausedFor: 'budget',
      retryCount: 0,
    });
    const answers = () =>
      ground.models.requests.filter(({ path }) => path.endsWith('/v1/responses'));
    expect(answers()).toEqual([]);
    const counts = ground.models.requests.filter(({ path }) => path.endsWith('/input_tokens'));
    expect(counts).toHaveLength(1);
    const refused = await waitFor('the reason in the log', async () =>
      (await ground.logOf(id)).find(({ event }) => event === 'budget_refused'),
    );
    expect(refused.message).toMatch(/^The budget of its project/);

    await ground.fleet.api.patch(`/budgets/${budget.id}`, { allocated: 10_000_000 });
    // The raise may come before the worker released the run: then the task is ABORTED for a moment.
    expect(await ground.untilStatus(id, 'COMPLETED', 'FAILED')).toMatchObject({
      status: 'COMPLETED',
      summary: 'The budget was raised.',
      retryCount: 0,
    });
    const { body: after } = await ground.fleet.api.get<Record<string, string>>(
      `/budgets/${budget.id}`,
    );
    expect(answers()).toHaveLength(1);
    const { input, output, cacheRead } = ground.models.served();
    expect(after).toMatchObject({ consumed: String(input + output + cacheRead), reserved: '0' });
  });

  it('a run without a key of its provider fails, and says so', async () => {
    const id = await ground.run([{ text: 'never' }]);
    await ground.untilStatus(id, 'COMPLETED');
    await ground.fleet.api.delete('/model-providers/openai');
    const { body } = await ground.fleet.api.post<{ id: string }>('/agent-tasks', {
      title: 'Without a key',
      taskType: 'agent',
      agent: { kind: 'codex', model: MODEL },
      maxRetries: 0,
    });
    const task = await ground.untilStatus(body.id, 'FAILED', 'ABORTED');
    expect(task['lastError']).toMatch(/provider/i);
  });
});
