import { afterEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../wait-for.js';
import { type ModelServer, type Script, startModelServer } from './index.js';

const TOOLS = {
  anthropic: [
    { name: 'Write', input_schema: { properties: { file_path: {}, content: {} } } },
    { name: 'Bash', input_schema: { properties: { command: { type: 'string' } } } },
  ],
  responses: [
    {
      type: 'function',
      name: 'shell',
      parameters: { properties: { command: { type: 'array' } }, required: ['command'] },
    },
    {
      type: 'namespace',
      name: 'mcp__drover',
      tools: [{ type: 'function', name: 'report_progress', parameters: {} }],
    },
  ],
  chat: [
    {
      type: 'function',
      function: {
        name: 'bash',
        parameters: {
          properties: { command: { type: 'string' }, description: { type: 'string' } },
          required: ['command', 'description'],
        },
      },
    },
  ],
  gemini: [
    {
      functionDeclarations: [
        { name: 'write_file', parameters: { properties: { file_path: { type: 'STRING' } } } },
      ],
    },
  ],
};

let server: ModelServer;
afterEach(() => server?.close());

async function ask(path: string, body: object): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
}

async function start(script: Script): Promise<void> {
  server = await startModelServer(script);
}

describe('the stand-in for model servers', () => {
  it.each([
    ['/v1/messages', { stream: true, messages: [], tools: TOOLS.anthropic }, '"partial_json"'],
    ['/v1/messages', { messages: [], tools: TOOLS.anthropic }, '"file_path":"/a"'],
    ['/v1/responses', { stream: true, input: [], tools: TOOLS.responses }, '"name":"shell"'],
    ['/v1/responses', { input: [], tools: TOOLS.responses }, '"name":"shell"'],
    ['/v1/chat/completions', { stream: true, messages: [], tools: TOOLS.chat }, '"name":"bash"'],
    ['/v1/chat/completions', { messages: [], tools: TOOLS.chat }, '"name":"bash"'],
    [
      '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      { contents: [], tools: TOOLS.gemini },
      '"args":{"file_path":"/a","content":"b\\n"}',
    ],
    [
      '/v1beta/models/gemini-2.5-pro:generateContent',
      { contents: [], tools: TOOLS.gemini },
      '"args":{"file_path":"/a","content":"b\\n"}',
    ],
  ])('a script calls the tool of the agent (%#)', async (path, body, expected) => {
    await start([{ calls: [{ write: '/a', content: 'b\n' }] }]);
    const response = await ask(path, { model: 'm', ...body });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(expected);
    expect(server.served()).toMatchObject({ requests: 1, input: 1001, output: 41 });
  });

  it('a tool is found by the end of its name, and in its namespace', async () => {
    await start([{ calls: [{ tool: 'report_progress', input: { percent: 5 } }] }]);
    const response = await ask('/v1/responses', { input: [], tools: TOOLS.responses });
    expect(await response.json()).toMatchObject({
      output: [{ name: 'report_progress', namespace: 'mcp__drover', arguments: '{"percent":5}' }],
    });
  });

  it('a conversation goes on with the turn after its last tool result', async () => {
    await start([
      { calls: [{ run: 'true' }, { run: 'false' }] },
      { text: 'First task done.' },
      { calls: [{ run: 'ls' }] },
      { text: 'Second task done.' },
    ]);
    const call = { role: 'assistant', content: '' };
    const result = { role: 'tool', content: '' };
    const said = (content: string) => ({ role: 'assistant', content });
    const user = { role: 'user', content: 'Go on' };
    const history = [user, call, result, result, said('First task done.'), user, call, result];
    const turns = [];
    for (let length = 1; length <= history.length; length++) {
      const messages = history.slice(0, length);
      await ask('/v1/chat/completions', { messages, tools: TOOLS.chat });
      turns.push(server.requests.at(-1)?.turn);
    }
    expect(turns).toEqual([0, 0, 0, 1, 2, 2, 2, 3]);
  });

  it('a cut answer does not count as a turn', async () => {
    await start([{ text: 'All of it', cutAfter: 2, chunks: 2 }]);
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'All o' },
    ];
    const response = await ask('/v1/messages', { stream: true, messages });
    await expect(response.text()).rejects.toThrow();
    expect(server.requests[0]).toMatchObject({ turn: 0, status: 200, isCut: true });
  });

  it.each([
    ['/v1/messages', { type: 'error', error: { type: 'rate_limit_error' } }],
    ['/v1/responses', { error: { code: 'rate_limit_exceeded' } }],
    ['/v1/chat/completions', { error: { code: 'rate_limit_exceeded' } }],
    ['/v1beta/models/m:generateContent', { error: { status: 'RESOURCE_EXHAUSTED' } }],
  ])('%s refuses in its own form, then answers', async (path, body) => {
    await start([{ fails: { status: 429, times: 1, retryAfter: 3 } }]);
    const refused = await ask(path, {});
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject(body);
    expect((await ask(path, {})).status).toBe(200);
  });

  it('a client that breaks off is recorded', async () => {
    await start([{ hangAfter: 1 }]);
    const abort = new AbortController();
    const response = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      body: '{"stream":true}',
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    abort.abort();
    await expect(response.text()).rejects.toThrow();
    await waitFor('the end of the request', () => server.requests[0]?.isBrokenOff);
  });
});
