import { request } from 'node:http';
import { connect } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Script } from '../../../test/support/model-server/index.js';
import { waitFor } from '../../../test/support/wait-for.js';
import type { ModelRequest } from './domain/contract.js';
import type { ModelProxyOptions } from './proxy/model-proxy.js';
import { aSignal, KEY, Rig, TOKEN, type Wire, WIRES } from './testing/rig.js';

const wires = Object.keys(WIRES) as Wire[];
const both = wires.flatMap((wire) => [[wire, true] as const, [wire, false] as const]);

let rig: Rig;
afterEach(() => rig?.close());

async function open(script: Script, changes?: Partial<ModelProxyOptions>): Promise<void> {
  rig = await Rig.open(script, changes);
}

describe('a request through the proxy', () => {
  it.each(both)(
    '%s, stream %s: bytes and usage are those of the provider',
    async (wire, stream) => {
      await open([{ text: 'Grüße, 世界 🌍', chunks: 4, reasoning: 'Hmm.' }]);
      const { status, text } = await rig.read(wire, stream);
      const [seen] = rig.server.requests;
      expect({ status, text }).toEqual({ status: 200, text: seen?.sent });
      const usage = await rig.usage();
      expect(usage).toMatchObject({ ...seen?.served, status: 200, estimated: false });
      expect(usage).toMatchObject({ provider: WIRES[wire].provider });
      expect(usage.model).toBe(
        wire === 'messages' ? 'claude-sonnet-4-5' : /gpt-5.5|gemini-2.5-pro/.exec(usage.model)?.[0],
      );
      expect(usage.timeToFirstTokenMs).toBeGreaterThan(0);
      expect(rig.ended).toHaveLength(1);
    },
  );

  it.each(wires)('%s: the provider gets the key and the bytes of the agent', async (wire) => {
    await open([{}]);
    await rig.read(wire);
    const [seen] = rig.server.requests;
    expect(seen?.body).toEqual(WIRES[wire].body(true));
    expect(JSON.stringify(seen?.headers)).toContain(KEY);
    expect(JSON.stringify(seen?.headers)).not.toContain(TOKEN);
    expect(seen?.headers).toMatchObject({ 'accept-encoding': 'identity' });
  });

  it.each(wires)('%s: a chunk arrives before the provider sends the next one', async (wire) => {
    const arrived = aSignal();
    await open([
      {
        text: 'first second',
        chunks: 2,
        beforeChunk: (chunk) => (chunk < 2 ? undefined : arrived.given),
      },
    ]);
    const response = await rig.ask(WIRES[wire].path, WIRES[wire].body(true));
    let text = '';
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (text.includes('first')) arrived.give();
    }
    expect(text).toBe(rig.server.requests[0]?.sent);
  });

  it('the chunk with the usage is hidden from a client that did not ask for it', async () => {
    await open([{ text: 'Hello "usage" there', chunks: 3 }]);
    const { path } = WIRES.chat;
    const response = await rig.ask(path, { model: 'm', stream: true, messages: [] });
    const text = await response.text();
    const [seen] = rig.server.requests;
    expect(seen?.body.stream_options).toEqual({ include_usage: true });
    const events = (seen?.sent ?? '').split('\n\n');
    expect(events.filter((event) => event.includes('prompt_tokens'))).toHaveLength(1);
    expect(text).toBe(events.filter((event) => !event.includes('prompt_tokens')).join('\n\n'));
    expect(await rig.usage()).toMatchObject({ ...seen?.served, estimated: false });
  });

  it('an admission can name another model', async () => {
    await open([{}], { admit: () => Promise.resolve({ kind: 'admitted', model: 'small/1' }) });
    for (const wire of wires) await rig.read(wire);
    const { requests } = rig.server;
    expect(requests.map(({ body }) => body.model)).toEqual([
      'small/1',
      'small/1',
      'small/1',
      undefined,
    ]);
    expect(requests[3]?.path).toBe('/v1beta/models/small%2F1:streamGenerateContent?alt=sse');
    expect(rig.ended.map(({ model }) => model)).toEqual(Array(4).fill('small/1'));
  });

  it('an admission learns the bounds of the request', async () => {
    const asked: ModelRequest[] = [];
    await open([{}], {
      admit: (one) => {
        asked.push(one);
        return Promise.resolve({ kind: 'admitted' });
      },
    });
    for (const wire of wires) await rig.read(wire);
    expect(asked.map(({ outputBound }) => outputBound)).toEqual([500, 500, 500, 500]);
    expect(asked.map(({ id }) => id)).toEqual(rig.ended.map(({ id }) => id));
    expect(asked.every(({ inputBound }) => inputBound > 1000)).toBe(true);
  });

  it('the provider counts the input of a request before its admission', async () => {
    const counts: (number | undefined)[] = [];
    await open([{}], {
      async admit({ countInput }) {
        counts.push(await countInput?.());
        return { kind: 'admitted' };
      },
    });
    for (const wire of wires) await rig.read(wire);
    const asked = rig.server.requests.filter(({ served }) => served === undefined);
    const said = asked.map(({ path, body, status }) => [path, Object.keys(body), status]);
    expect(said).toEqual([
      ['/v1/messages/count_tokens', ['model', 'messages'], 200],
      ['/v1/responses/input_tokens', ['model', 'input'], 200],
      ['/v1beta/models/gemini-2.5-pro:countTokens', ['generateContentRequest'], 200],
    ]);
    const served = asked.map(({ body }) => (JSON.stringify(body).length >> 2) + 1000);
    const counted = Object.fromEntries(wires.map((wire, index) => [wire, counts[index]]));
    const [messages, responses, gemini] = served;
    expect(counted).toEqual({ messages, responses, chat: undefined, gemini });
    expect(rig.ended).toHaveLength(wires.length);
  });

  it('requests without usage need no admission', async () => {
    await open([], { admit: () => Promise.reject(new Error('asked')) });
    const counted = await rig.ask('/anthropic/v1/messages/count_tokens', { messages: [] });
    expect(await counted.json()).toMatchObject({ input_tokens: expect.any(Number) });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const models = await fetch(`${rig.proxy.url}/openai/v1/models`, { headers });
    expect(await models.json()).toMatchObject({ object: 'list' });
    expect(rig.ended).toEqual([]);
  });

  it('a proxy on a Unix socket serves a long path', async () => {
    const folder = mkdtempSync(join(tmpdir(), `${'long'.repeat(25)}-`));
    const socketPath = join(folder, 'models');
    await open([{}], { listen: { socket: socketPath } });
    const inside = process.cwd();
    process.chdir(folder);
    const status = await new Promise((resolve, reject) => {
      const headers = { 'x-goog-api-key': TOKEN };
      const asked = { socketPath: 'models', method: 'POST', path: '/openai/v1/responses', headers };
      request(asked, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end('{"model":"m"}');
    }).finally(() => process.chdir(inside));
    expect(status).toBe(200);
    await rig.close();
    rmSync(folder, { recursive: true });
  });
});

describe('an agent that breaks off', () => {
  it.each(wires)('%s: the answer is read to its end', async (wire) => {
    const gone = aSignal();
    await open([
      {
        text: 'word '.repeat(50),
        chunks: 10,
        beforeChunk: (chunk) => (chunk < 3 ? undefined : gone.given),
      },
    ]);
    const abort = new AbortController();
    const { path, body } = WIRES[wire];
    const response = await rig.ask(path, body(true), { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    // The proxy has seen the end of the connection before a later request.
    await rig.ask('/unknown', {});
    gone.give();
    expect(await rig.usage()).toMatchObject({
      ...rig.server.requests[0]?.served,
      estimated: false,
    });
    expect(rig.server.requests[0]?.isBrokenOff).toBe(false);
  });

  it('an endless answer is read on for a limited time only', async () => {
    await open([{ text: 'word '.repeat(20), hangAfter: 2 }], { limits: { readOnMs: 20 } });
    const abort = new AbortController();
    const { path, body } = WIRES.messages;
    const response = await rig.ask(path, body(true), { signal: abort.signal });
    await response.body?.getReader().read();
    abort.abort();
    expect(await rig.usage()).toMatchObject({ input: 1001, cacheRead: 201, estimated: true });
    await waitFor('the end at the provider', () => rig.server.requests[0]?.isBrokenOff);
  });

  it('a request that is broken off before its admission costs nothing', async () => {
    const admission = aSignal();
    const asked = aSignal();
    await open([{}], {
      async admit() {
        asked.give();
        await admission.given;
        return { kind: 'admitted' };
      },
    });
    const { port } = new URL(rig.proxy.url);
    const client = connect(Number(port), '127.0.0.1');
    const body = JSON.stringify(WIRES.responses.body(true));
    const head = `POST ${WIRES.responses.path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${TOKEN}`;
    client.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await asked.given;
    client.destroy();
    // The proxy has seen the end of the connection before a later request.
    await rig.ask('/unknown', {});
    admission.give();
    expect(await rig.usage()).toMatchObject({ input: 0, output: 0, estimated: false });
  });

  it('a closed proxy estimates the usage of open answers', async () => {
    await open([{ text: 'word '.repeat(20), hangAfter: 2 }]);
    const { path, body } = WIRES.chat;
    const response = await rig.ask(path, body(true));
    await response.body?.getReader().read();
    await rig.proxy.close(0);
    expect(rig.ended).toMatchObject([{ estimated: true, status: 200 }]);
  });
});

describe('a provider that fails', () => {
  it.each(wires)('%s: the usage of a cut answer is estimated', async (wire) => {
    const text = 'word '.repeat(80);
    const arrived = aSignal();
    const beforeChunk = (chunk: number) => (chunk < 4 ? undefined : arrived.given);
    await open([{ text, chunks: 4, cutAfter: 4, beforeChunk }]);
    const { path, body } = WIRES[wire];
    const response = await rig.ask(path, body(true));
    const read = async () => {
      let bytes = 0;
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        bytes += chunk.length;
        if (bytes === rig.server.requests[0]?.sent.length) arrived.give();
      }
    };
    await expect(read()).rejects.toThrow();
    const usage = await rig.usage();
    expect(usage).toMatchObject({ status: 200, estimated: true });
    // Anthropic tells the input first, Gemini with cached tokens, OpenAI last.
    const told = { messages: 1001, gemini: 1202, responses: undefined, chat: undefined }[wire];
    if (told !== undefined) expect(usage.input).toBe(told);
    expect(usage.output).toBeGreaterThanOrEqual(text.length / 2 / 4);
    expect(usage.output).toBeLessThanOrEqual(text.length / 4);
  });

  it.each([
    ['messages', '2030-01-01T00:00:00.000Z'],
    ['responses', undefined],
    ['chat', undefined],
    ['gemini', undefined],
  ] as const)('%s: a rate limit is reported, and ends the agent with 403', async (wire, exact) => {
    const resetsAt = new Date('2030-01-01T00:00:00Z');
    await open([{ fails: { status: 429, resetsAt } }]);
    const { status, text } = await rig.read(wire);
    expect(status).toBe(403);
    expect(text).toMatch(/has rate limited the model .* until 20/);
    expect(rig.limits).toMatchObject([{ reason: 'rate', scope: 'model', status: 429 }]);
    const seconds = Math.abs(Number(rig.limits[0]?.resetsAt) - Number(resetsAt)) / 1000;
    // A longer wait than 35 days is taken for 35 days if it is relative.
    if (exact) expect(seconds).toBe(0);
    expect(rig.limits[0]?.retryAfterMs).toBeGreaterThan(34 * 86_400_000);
    expect(await rig.usage()).toMatchObject({ input: 0, output: 0, status: 429, estimated: false });
  });

  it.each([
    ['messages', { status: 529 }, { reason: 'overloaded', scope: 'model' }],
    ['messages', { status: 429, retryAfter: 30 }, { reason: 'rate', retryAfterMs: 30_000 }],
    ['messages', { status: 402 }, { reason: 'quota', scope: 'key' }],
    ['responses', { status: 429, retryAfter: 2 }, { reason: 'rate', retryAfterMs: 2000 }],
    ['responses', { status: 429, isQuota: true }, { reason: 'quota', scope: 'key' }],
    [
      'gemini',
      { status: 429, isQuota: true, retryAfter: 9 },
      { reason: 'quota', retryAfterMs: 9000 },
    ],
    ['gemini', { status: 503 }, { reason: 'overloaded' }],
  ] as const)('%s: %j is a limit', async (wire, fails, limit) => {
    await open([{ fails }]);
    expect((await rig.read(wire)).status).toBe(403);
    expect(rig.limits).toMatchObject([limit]);
  });

  it.each([
    [{ status: 400, isContextOverflow: true }, 400],
    [{ status: 403 }, 403],
    [{ status: 404 }, 404],
    [{ status: 500 }, 500],
  ] as const)('the error %j passes unchanged', async (fails, status) => {
    await open([{ fails }]);
    for (const wire of wires) {
      const answer = await rig.read(wire);
      expect(answer).toEqual({ status, text: rig.server.requests.at(-1)?.sent });
    }
    expect(rig.limits).toEqual([]);
  });

  it('a refused key is not shown', async () => {
    await open([{ fails: { status: 401 } }]);
    const { status, text } = await rig.read('responses');
    expect(status).toBe(403);
    expect(text).toContain('refused the key of this workspace');
  });

  it('a provider out of reach is status 502 and costs nothing', async () => {
    await open([{}]);
    await rig.server.close();
    const { status, text } = await rig.read('gemini');
    expect(status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } });
    expect(await rig.usage()).toMatchObject({ input: 0, status: 502, estimated: false });
  });

  it('a silent provider is broken off', async () => {
    await open([{ beforeChunk: () => new Promise(() => undefined) }], {
      limits: { silenceMs: 500 },
    });
    const { status } = await rig.read('messages', false);
    expect(status).toBe(502);
    expect(await rig.usage()).toMatchObject({ status: 502, estimated: true });
  });
});

describe('a refusal of the proxy', () => {
  const FORMS = [
    [
      '/anthropic/v1/messages',
      { type: 'error', error: { message: 'No budget is left.', code: 'budget_exceeded' } },
    ],
    ['/openai/v1/responses', { error: { message: 'No budget is left.', code: 'budget_exceeded' } }],
    [
      '/openai/v1/chat/completions',
      { error: { message: 'No budget is left.', code: 'budget_exceeded' } },
    ],
    [
      '/gemini/v1beta/models/m:generateContent',
      {
        error: {
          message: 'No budget is left.',
          code: 403,
          details: [{ reason: 'BUDGET_EXCEEDED' }],
        },
      },
    ],
  ] as const;

  it.each(FORMS)('%s has the form of its provider', async (path, form) => {
    const message = 'No budget is left.';
    await open([{}], {
      admit: () => Promise.resolve({ kind: 'refused', reason: 'budget_exceeded', message }),
    });
    const response = await rig.ask(path, { model: 'm' });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject(form);
    expect(rig.server.requests).toEqual([]);
    expect(rig.ended).toEqual([]);
  });

  it.each([
    ['x-api-key', TOKEN, 200],
    ['authorization', `Bearer ${TOKEN}`, 200],
    ['x-goog-api-key', TOKEN, 200],
    ['x-api-key', `${TOKEN} `.trim().toUpperCase(), 401],
    ['x-api-key', KEY, 401],
    ['authorization', `Basic ${TOKEN}`, 401],
    ['cookie', TOKEN, 401],
  ])('%s: %s gets status %i', async (name, value, status) => {
    await open([{}]);
    const headers = { [name]: value };
    const response = await rig.ask('/openai/v1/responses', { model: 'm' }, { headers });
    expect(response.status).toBe(status);
  });

  it('the token of the query does not reach the provider', async () => {
    await open([{}]);
    const path = `/gemini/v1beta/models/m:generateContent?key=${TOKEN}&a=b`;
    expect((await rig.ask(path, {}, { headers: {} })).status).toBe(200);
    expect(rig.server.requests[0]?.path).toBe('/v1beta/models/m:generateContent?a=b');
  });

  it.each([
    ['POST', '/anthropic/v1/messages/batches'],
    ['POST', '/openai/v1/embeddings'],
    ['POST', '/openai/v1/files'],
    ['GET', '/openai/v1/responses/resp_1'],
    ['DELETE', '/openai/v1/models/m'],
    ['POST', '/gemini/v1beta/models/a%2F..%2Fb:batchEmbedContents'],
    ['GET', '/openai/v1/models/../files'],
    ['GET', '/v1/models'],
  ])('%s %s reaches no provider', async (method, path) => {
    await open([{}]);
    const headers = { 'x-api-key': TOKEN };
    expect((await fetch(`${rig.proxy.url}${path}`, { method, headers })).status).toBe(404);
    expect(rig.server.requests).toEqual([]);
  });

  it.each([
    ['no JSON', 400, '{'],
    ['a list', 400, '[]'],
    ['no model', 400, '{}'],
    ['a response in the background', 400, '{"model":"m","background":true}'],
    ['a conversation of the provider', 400, '{"model":"m","previous_response_id":"x"}'],
    ['a request that is too large', 413, JSON.stringify({ model: 'm'.repeat(2000) })],
  ])('%s is refused with status %i', async (_, status, body) => {
    await open([{}], { limits: { bodyBytes: 1000 } });
    const response = await rig.ask('/openai/v1/responses', {}, { body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
    expect(rig.server.requests).toEqual([]);
  });

  it('an encoded request is refused', async () => {
    await open([{}]);
    const headers = { 'x-api-key': TOKEN, 'content-encoding': 'zstd' };
    expect((await rig.ask('/openai/v1/responses', {}, { headers })).status).toBe(415);
  });

  it('a provider without access is refused for the reason that the host gives', async () => {
    const message = 'There is no key.';
    const access = () =>
      Promise.resolve({ kind: 'refused', reason: 'no_provider', message } as const);
    await open([{}], { access });
    const { status, text } = await rig.read('gemini');
    expect({ status, told: text.includes(message) }).toEqual({ status: 403, told: true });
    expect(rig.server.requests).toEqual([]);
  });

  it('a host that cannot decide is status 503', async () => {
    await open([{}], { admit: () => Promise.reject(new Error(KEY)) });
    const { status, text } = await rig.read('messages');
    expect(status).toBe(503);
    expect(text).not.toContain(KEY);
  });
});
