import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PrivateValkey } from '../../../test/faults/harness/private-valkey.js';
import { newId } from '#lib/kernel';
import { HeartbeatStore, refusesChanges, ValkeyClient } from './index.js';

let server: PrivateValkey;
let client: ValkeyClient;
const told: string[] = [];

beforeAll(async () => {
  server = await PrivateValkey.start();
  client = new ValkeyClient({
    url: server.url,
    onRefusal: ({ message }) => told.push(`refused: ${message.split(' ', 1)[0]}`),
    onAccepted: () => told.push('accepted'),
  });
  expect(await client.ready(5_000)).toBe(true);
});

afterAll(async () => {
  client.close();
  await server.close();
});

describe('a Valkey that answers but accepts no changes', () => {
  it.each([
    ['is full', 'OOM', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['is a replica', 'READONLY', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ])('%s is reported once, and so is its end', async (_, code, begin, end) => {
    const run = ([name, ...args]: string[]) =>
      server.ask((valkey) => valkey.call(name as string, ...args));
    await run(begin);
    const heartbeats = new HeartbeatStore(client);
    const beat = {
      workspaceId: newId(),
      agentId: newId(),
      status: 'healthy',
      staleThresholdSeconds: 5,
    };
    await heartbeats.record(beat);
    const refusal = await client.probe().catch((error: unknown) => error);
    expect(refusesChanges(refusal)).toBe(true);
    expect(told.splice(0)).toEqual([`refused: ${code}`]);
    await run(end);
    await client.probe();
    await client.probe();
    expect(told.splice(0)).toEqual(['accepted']);
  });
});
