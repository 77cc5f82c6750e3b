import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { KEY, Rig, type Wire } from './testing/rig.js';

let rig: Rig;
let provider: Server;
afterEach(async () => {
  await rig.close();
  provider.close();
  provider.closeAllConnections();
});

/** Opens a proxy in front of a provider that answers each request in this way. */
async function open(answer: RequestListener): Promise<void> {
  provider = createServer(answer);
  await new Promise<void>((resolve) => void provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  rig = await Rig.open([], {
    access: (name) => Promise.resolve({ provider: name, baseUrl, key: KEY }),
  });
}

describe('a request without usage', () => {
  it.each([
    ['POST', '/anthropic/v1/messages/count_tokens', 429],
    ['POST', '/gemini/v1beta/models/gemini-2.5-pro:countTokens', 503],
    ['GET', '/openai/v1/models', 429],
  ])(
    '%s %s: a limit passes to the agent, and does not end its run',
    async (method, path, status) => {
      const text = '{"error":{"message":"Ask later."}}';
      await open((_, response) => response.writeHead(status).end(text));
      const body = method === 'POST' ? '{"model":"m"}' : undefined;
      const response = await rig.ask(path, {}, { method, body });
      expect({ status: response.status, text: await response.text() }).toEqual({ status, text });
      expect(rig.limits).toEqual([]);
    },
  );
});

it.each<[Wire, string, object]>([
  [
    'responses',
    '{"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"Pay."}}}',
    { provider: 'openai', model: 'gpt-5.5', reason: 'quota', scope: 'key' },
  ],
  [
    'gemini',
    '{"error":{"code":503,"status":"UNAVAILABLE","message":"Later."}}',
    { provider: 'gemini', model: 'gemini-2.5-pro', reason: 'overloaded', scope: 'model' },
  ],
])('%s: a limit inside a stream is reported, and its bytes pass', async (wire, data, limit) => {
  const sent = `data: ${data}\n\n`;
  await open((_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sent),
  );
  expect(await rig.read(wire)).toEqual({ status: 200, text: sent });
  expect(rig.limits).toMatchObject([limit]);
});
