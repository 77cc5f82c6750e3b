import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedValkey, startEmbeddedValkey } from '#lib/local-servers';
import { agentKey, type AgentPlace, newId } from '#lib/kernel';
import { waitFor } from '../../../test/support/wait-for.js';
import {
  HeartbeatStore,
  ValkeyClient,
  ValkeyLock,
  type ValkeyOptions,
  ValkeySubscriber,
  WakeUps,
} from './index.js';

// A server of its own, because these tests stop, flush and end it.
let server: EmbeddedValkey;
const open: { close(): void }[] = [];

beforeAll(async () => {
  server = await startEmbeddedValkey();
});

afterEach(() => {
  process.kill(server.pid, 'SIGCONT');
  for (const one of open.splice(0)) one.close();
});

afterAll(() => server.stop());

function options(more: Partial<ValkeyOptions> = {}): ValkeyOptions {
  return { url: server.url, keyPrefix: `${newId()}:`, commandTimeoutMs: 300, ...more };
}

/** Unlike events.once(), which rejects on an error event. */
function next(client: ValkeyClient, event: string): Promise<void> {
  return new Promise((resolve) => void client.commands.once(event, () => resolve()));
}

async function aClient(more: Partial<ValkeyOptions> = {}): Promise<ValkeyClient> {
  const client = new ValkeyClient(options(more));
  open.push(client);
  expect(await client.ready(5_000)).toBe(true);
  return client;
}

/** One of several processes, with its own connections and the messages that it received. */
interface Ear {
  client: ValkeyClient;
  wakeUps: WakeUps;
  claims: [string, number][];
  agents: string[];
  coordinator: number;
  resyncs: number;
}

async function aProcess(keyPrefix: string): Promise<Ear> {
  const client = await aClient({ keyPrefix });
  const subscriber = new ValkeySubscriber({ ...options({ keyPrefix }), pingIntervalMs: 100 });
  open.push(subscriber);
  const ear: Ear = {
    client,
    wakeUps: new WakeUps(client, subscriber, newId()),
    claims: [],
    agents: [],
    coordinator: 0,
    resyncs: 0,
  };
  open.unshift(ear.wakeUps);
  ear.wakeUps.onClaims((...claim) => ear.claims.push(claim));
  ear.wakeUps.onSignals((agentId) => ear.agents.push(agentId));
  ear.wakeUps.onCoordinator(() => (ear.coordinator += 1));
  ear.wakeUps.onResync(() => (ear.resyncs += 1));
  await waitFor('the subscription', () => ear.resyncs > 0);
  ear.resyncs = 0;
  return ear;
}

describe('the client', () => {
  it('an attempt reports the outcome of a command', async () => {
    const client = await aClient();
    expect(await client.attempt((commands) => commands.set('a', '1'))).toEqual({
      kind: 'done',
      value: 'OK',
    });
    expect(await client.attempt((commands) => commands.lpush('a', '1'))).toMatchObject({
      kind: 'refused',
    });
    process.kill(server.pid, 'SIGSTOP');
    const before = performance.now();
    expect(await client.attempt((commands) => commands.get('a'))).toMatchObject({
      kind: 'unknown',
    });
    expect(performance.now() - before).toBeLessThan(2_000);
  });

  it('the client leaves a server that does not answer, and returns to it', async () => {
    const client = await aClient();
    process.kill(server.pid, 'SIGSTOP');
    const closed = next(client, 'close');
    await client.attempt((commands) => commands.get('a'));
    await closed;
    expect(client.state()).toBe('connecting');
    expect(await client.attempt((commands) => commands.get('a'))).toMatchObject({ kind: 'unsent' });
    process.kill(server.pid, 'SIGCONT');
    expect(await client.ready(10_000)).toBe(true);
    await client.probe();
  });

  it('a command whose answer was lost is not repeated', async () => {
    const client = await aClient();
    const other = await aClient({ keyPrefix: '' });
    process.kill(server.pid, 'SIGSTOP');
    const lost = client.attempt((commands) => commands.incr('counter'));
    const closed = next(client, 'close');
    expect(await lost).toMatchObject({ kind: 'unknown' });
    await closed;
    process.kill(server.pid, 'SIGCONT');
    await client.ready(10_000);
    await other.ready(10_000);
    // The server found the first command in its socket. A second one would make two.
    await waitFor('the command', async () => (await client.commands.get('counter')) === '1');
    expect(await client.commands.get('counter')).toBe('1');
  });

  it('keys and channels have the prefix', async () => {
    const client = await aClient({ keyPrefix: 'mine:' });
    const bare = await aClient({ keyPrefix: '' });
    await client.commands.set('key', 'value');
    expect(await bare.commands.get('mine:key')).toBe('value');
    expect(client.channel('news')).toBe('mine:news');
  });

  it('a lost connection is reported once', async () => {
    const errors: Error[] = [];
    const client = new ValkeyClient({
      url: 'redis://127.0.0.1:1',
      onError: (error) => errors.push(error),
    });
    open.push(client);
    await next(client, 'reconnecting');
    await next(client, 'reconnecting');
    expect(errors).toHaveLength(1);
    expect(await client.ready(1)).toBe(false);
  });
});

describe('the lock', () => {
  it('a lock has one holder', async () => {
    const client = await aClient();
    const [mine, yours] = [1, 2].map(() => new ValkeyLock(client, { key: 'l', ttlMs: 10_000 }));
    expect(await mine?.acquire()).toBe('held');
    expect(await yours?.acquire()).toBe('lost');
    expect(await mine?.acquire()).toBe('held');
    expect(await yours?.release()).toBe('lost');
    expect(await yours?.renew()).toBe('lost');
    expect(await mine?.renew()).toBe('held');
    expect(await mine?.release()).toBe('held');
    expect(await yours?.acquire()).toBe('held');
    expect(await mine?.renew()).toBe('lost');
  });

  it("a lock expires, and its end does not release the next holder's", async () => {
    const client = await aClient();
    const [late, other] = [150, 10_000].map(
      (ttlMs) => new ValkeyLock(client, { key: 'l', ttlMs }),
    ) as [ValkeyLock, ValkeyLock];
    await late.acquire();
    expect(late.heldUntil()).toBeGreaterThan(performance.now());
    await waitFor('the expiry', async () => (await other.acquire()) === 'held');
    expect(late.heldUntil()).toBeLessThan(performance.now());
    expect(await late.release()).toBe('lost');
    expect(await other.renew()).toBe('held');
  });

  it('a lock is unknown while nobody answers, and held again when somebody does', async () => {
    const client = await aClient();
    const lock = new ValkeyLock(client, { key: 'l', ttlMs: 60_000 });
    process.kill(server.pid, 'SIGSTOP');
    expect(await lock.acquire()).toBe('unknown');
    expect(lock.heldUntil()).toBe(0);
    process.kill(server.pid, 'SIGCONT');
    // The same owner gets it, whether or not the first call was executed late.
    expect(await waitFor('an answer', async () => (await lock.acquire()) === 'held')).toBe(true);
  });
});

describe('wake-ups', () => {
  it('wake-ups reach this process at once and others through Valkey, each once', async () => {
    const prefix = `${newId()}:`;
    const [here, there] = [await aProcess(prefix), await aProcess(prefix)];
    here.wakeUps.claims('w1', 2);
    expect(here.claims).toEqual([['w1', 2]]);
    here.wakeUps.claims('w1', 3);
    here.wakeUps.claims('w2', 1);
    here.wakeUps.signals(['a', 'b']);
    here.wakeUps.coordinator();
    await waitFor('the message', () => there.coordinator > 0);
    expect(there.claims).toEqual([
      ['w1', 5],
      ['w2', 1],
    ]);
    expect(there.agents).toEqual(['a', 'b']);
    // Had it received its own message, it would have done so before the answer to this.
    there.wakeUps.claims('w3', 1);
    await waitFor('the answer', () => here.claims.some(([id]) => id === 'w3'));
    expect(here.claims).toEqual([
      ['w1', 2],
      ['w1', 3],
      ['w2', 1],
      ['w3', 1],
    ]);
  });

  it('a burst of wake-ups becomes a few messages', async () => {
    const prefix = `${newId()}:`;
    const [here, there] = [await aProcess(prefix), await aProcess(prefix)];
    const from = performance.now();
    for (let i = 0; i < 20_000; i++) {
      here.wakeUps.claims('w', 1);
      if (i % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const took = performance.now() - from;
    const total = () => there.claims.reduce((sum, [, count]) => sum + count, 0);
    await waitFor('all of them', () => total() === 20_000);
    expect(there.claims.length).toBeLessThanOrEqual(took / 2 + 3);
  });

  it('wake-ups in this process need no Valkey and never throw', async () => {
    const unreachable = { url: 'redis://127.0.0.1:1' };
    const [client, subscriber] = [new ValkeyClient(unreachable), new ValkeySubscriber(unreachable)];
    const wakeUps = new WakeUps(client, subscriber, newId());
    open.push(wakeUps, client, subscriber);
    const heard: string[] = [];
    wakeUps.onClaims(() => {
      throw new Error('a listener that fails');
    });
    wakeUps.onClaims((id) => heard.push(id));
    wakeUps.claims('w', 1);
    wakeUps.claims('w', 0);
    expect(heard).toEqual(['w']);
  });

  it('a restored subscription makes everybody look again', async () => {
    const ear = await aProcess(`${newId()}:`);
    process.kill(server.pid, 'SIGSTOP');
    await waitFor('the connection to end', () => ear.client.state() !== 'ready' || pinged(ear));
    process.kill(server.pid, 'SIGCONT');
    await waitFor('the resync', () => ear.resyncs > 0);
  });

  it('a wake-up that could not be sent makes other servers look again', async () => {
    const prefix = `${newId()}:`;
    const [here, there] = [await aProcess(prefix), await aProcess(prefix)];
    here.client.commands.disconnect(true);
    here.wakeUps.claims('w', 1);
    await waitFor('the resync', () => there.resyncs > 0);
    expect(there.claims).toEqual([]);
  });
});

/** Makes the client send something, so that it notices. */
function pinged({ client }: { client: ValkeyClient }): false {
  void client.attempt((commands) => commands.ping());
  return false;
}

describe('heartbeats', () => {
  const anAgent = () => ({ workspaceId: newId(), agentId: newId() });
  const heartbeat = (agent: AgentPlace, staleThresholdSeconds = 45) => ({
    ...agent,
    status: 'healthy',
    currentTaskId: null,
    staleThresholdSeconds,
  });

  it('heartbeats live longer than the threshold and give the deadline', async () => {
    const client = await aClient();
    const store = new HeartbeatStore(client);
    const [alive, late, unknown] = [anAgent(), anAgent(), anAgent()];
    const key = `agent:heartbeat:${alive.workspaceId}:${alive.agentId}`;
    await store.record(heartbeat(alive));
    expect(await client.commands.ttl(key)).toBeGreaterThan(45);
    expect(JSON.parse((await client.commands.get(key)) as string)).toMatchObject({
      status: 'healthy',
      task_id: null,
    });
    await store.record(heartbeat(late));
    await client.commands.pexpire(`agent:heartbeat:${agentKey(late)}`, 55_000);
    const namesake = { ...unknown, agentId: alive.agentId };
    const known = await store.deadlinesOf([alive, late, unknown, namesake]);
    expect([...known.keys()]).toEqual([agentKey(alive), agentKey(late)]);
    expect(known.get(agentKey(alive))).toBeGreaterThan(44_000);
    expect(known.get(agentKey(alive))).toBeLessThanOrEqual(45_000);
    expect(known.get(agentKey(late))).toBeLessThan(-4_900);
  });

  it('heartbeats are written to views as well, which prove nothing', async () => {
    const client = await aClient();
    const [known, unknown] = [anAgent(), anAgent()];
    await client.commands.hset(`agent:status:${known.agentId}`, 'status', 'IDLE');
    const store = new HeartbeatStore(client, true);
    await Promise.all([store.record(heartbeat(known, 180)), store.record(heartbeat(unknown, 180))]);
    for (const { agentId, workspaceId } of [known, unknown]) {
      const view = `agent:heartbeat:${agentId}`;
      expect(await client.commands.ttl(view)).toBeGreaterThan(58);
      expect(await client.commands.ttl(view)).toBeLessThanOrEqual(60);
      const value = await client.commands.get(`agent:heartbeat:${workspaceId}:${agentId}`);
      expect(await client.commands.get(view)).toBe(value);
    }
    expect(await client.commands.hgetall(`agent:status:${known.agentId}`)).toEqual({
      status: 'IDLE',
      last_heartbeat: expect.stringMatching(/^\d{13}$/),
    });
    expect(await client.commands.exists(`agent:status:${unknown.agentId}`)).toBe(0);
    await client.commands.del(`agent:heartbeat:${agentKey(known)}`);
    expect([...(await store.deadlinesOf([known, unknown])).keys()]).toEqual([agentKey(unknown)]);
  });

  it('without Valkey no heartbeat is known, and agents do not wait', async () => {
    const store = new HeartbeatStore(await aClient());
    const agent = anAgent();
    await store.record(heartbeat(agent));
    expect((await store.deadlinesOf([agent])).size).toBe(1);
    process.kill(server.pid, 'SIGSTOP');
    await store.record(heartbeat(anAgent()));
    expect(store.record(heartbeat(anAgent()))).toBeUndefined();
    expect((await store.deadlinesOf([agent])).size).toBe(0);
    process.kill(server.pid, 'SIGCONT');
    await waitFor(
      'Valkey to be asked again',
      () => store.record(heartbeat(anAgent())) !== undefined,
    );
  });

  it('more heartbeats than fit into one script are recorded', async () => {
    const client = await aClient();
    const store = new HeartbeatStore(client);
    const agents = Array.from({ length: 1_201 }, anAgent);
    await Promise.all(agents.flatMap((agent) => store.record(heartbeat(agent)) ?? []));
    expect((await store.deadlinesOf(agents)).size).toBe(1_201);
  });
});
