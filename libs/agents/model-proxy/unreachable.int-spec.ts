import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { KEY, Rig } from './testing/rig.js';

let rig: Rig;
let provider: Server;
afterEach(async () => {
  await rig.close();
  provider.close();
});

/** Opens a proxy in front of a provider that treats each connection in this way. */
async function open(protocol: string, answer: (socket: Socket) => void): Promise<void> {
  provider = createServer(answer);
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `${protocol}://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  rig = await Rig.open([], {
    access: (name) => Promise.resolve({ provider: name, baseUrl, key: KEY }),
  });
}

it('a request costs nothing if the provider ends the connection before TLS', async () => {
  await open('https', (socket) => socket.destroy());
  expect((await rig.read('messages')).status).toBe(502);
  expect(await rig.usage()).toMatchObject({ input: 0, status: 502, estimated: false });
});

it('the usage of a request is estimated if the provider ends the connection after it', async () => {
  await open('http', (socket) => socket.once('data', () => socket.destroy()));
  const { status, text } = await rig.read('messages');
  expect(status).toBe(502);
  expect(text).toContain('The provider anthropic did not answer.');
  const usage = await rig.usage();
  expect(usage).toMatchObject({ status: 502, estimated: true });
  expect(usage.input).toBeGreaterThan(500);
});
