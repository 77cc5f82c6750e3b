import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, request } from 'undici';
import { TargetGuard } from '../domain/target.js';
import { type Behaviour, type Receiver, startReceiver } from '../testing/receiver.js';
import { guardedConnector } from './connector.js';
import { WebhookClient } from './webhook-client.js';

const guard = new TargetGuard(['127.0.0.0/8']);
let receiver: Receiver;
const agents: Agent[] = [];

beforeAll(async () => {
  receiver = await startReceiver();
});

afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.destroy()));
  await receiver.stop();
});

/** Sends to a name that resolves to these addresses, one list for each query. */
async function send(host: string, answers: string[][]): Promise<number | string> {
  let asked = 0;
  const resolve = () => Promise.resolve(answers[asked++] ?? []);
  // One request on each connection.
  const agent = new Agent({ connect: guardedConnector(guard, resolve), pipelining: 0 });
  agents.push(agent);
  const url = receiver.url('/').replace('127.0.0.1', host);
  let last: number | string = 'nothing';
  for (let round = 0; round < answers.length; round++) {
    last = await request(url, { dispatcher: agent }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      (error: Error) => error.name,
    );
  }
  return last;
}

describe('a connection', () => {
  it.each([
    ['receiver.test', [['127.0.0.1']], 204],
    // The second address is tried if the first does not answer.
    ['receiver.test', [['127.0.0.2', '127.0.0.1']], 204],
    ['receiver.test', [['10.0.0.1']], 'RefusedTarget'],
    ['receiver.test', [['127.0.0.1', '10.0.0.1']], 'RefusedTarget'],
    ['receiver.test', [['::ffff:127.0.0.1']], 'RefusedTarget'],
    // Plain HTTP and this port are only for allowed networks.
    ['receiver.test', [['93.184.215.14']], 'RefusedTarget'],
    // A name that changes its address a moment later.
    ['receiver.test', [['127.0.0.1'], ['10.0.0.1']], 'RefusedTarget'],
    // An address needs no resolver and is still checked.
    ['127.0.0.1', [['10.0.0.1']], 204],
    ['10.0.0.1', [['127.0.0.1']], 'RefusedTarget'],
    ['[::1]', [['127.0.0.1']], 'RefusedTarget'],
    ['2130706433', [['10.0.0.1']], 204],
  ])('a connection to %s at %j ends with %s', async (host, answers, result) => {
    expect(await send(host, answers)).toBe(result);
  });
});

describe('a request', () => {
  const TIMED_OUT = { outcome: { kind: 'unanswered', error: 'timeout' } };

  it.each<[string, Behaviour, object]>([
    ['is not answered', () => undefined, TIMED_OUT],
    ['is answered with half a head', (response) => response.socket?.write('HTTP/1.1 2'), TIMED_OUT],
    [
      'has an answer whose body does not end',
      (response) => response.writeHead(200).write('a part'),
      { outcome: { kind: 'delivered', status: 200 }, answer: 'a part' },
    ],
    [
      'has an answer with a secret in it',
      (response) => response.writeHead(400).end('Bearer abcdefgh12345678'),
      { outcome: { kind: 'failed', status: 400 }, answer: 'Bearer [redacted]' },
    ],
  ])('a request that %s ends within its time limit', async (name, behaviour, result) => {
    const webhooks = { allowedNetworks: ['127.0.0.0/8'], timeoutMs: 300 };
    const client = new WebhookClient({
      webhooks: { ...webhooks, maxPerWorkspace: 1, retentionDays: 1 },
    });
    const path = `/${encodeURIComponent(name)}`;
    receiver.behave(path, behaviour);
    const sent = await client.send({
      kind: 'signed',
      url: receiver.url(path),
      headers: {},
      body: '{}',
    });
    expect(sent).toMatchObject(result);
    expect(sent.durationMs).toBeLessThan(10_000);
    await client.close();
  });
});
