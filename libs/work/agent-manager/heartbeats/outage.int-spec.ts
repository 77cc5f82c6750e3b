import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '#lib/config';
import { Database } from '#lib/database';
import { type AgentCaller, newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { KeyRing, TaskSecrets, ValuesAtHand } from '#lib/secrets';
import { HeartbeatStore, ValkeyClient, ValkeySubscriber, WakeUps } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { anAgent, aWorkspace } from '../../../../test/support/factories.js';
import { FaultyProxy } from '../../../../test/support/proxy/faulty-proxy.js';
import { serverSettings } from '../../../../test/support/settings.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { AgentFacts } from './agent-facts.js';
import { HeartbeatBuffer } from './heartbeat-buffer.js';
import { HeartbeatValues } from './heartbeat-values.js';
import { HeartbeatWriter } from './heartbeat-writer.js';
import { HeartbeatFlusher } from './heartbeat-flusher.js';
import { Heartbeats } from './heartbeats.js';

// A server whose connection to Postgres can be cut.
let db: TestDatabase;
let proxy: FaultyProxy;
let database: Database;
let client: ValkeyClient;
let subscriber: ValkeySubscriber;
let wakeUps: WakeUps;
let workspaceId: string;
const lines: { message: string }[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await FaultyProxy.to(db.serviceUrl);
  database = new Database({
    appUrl: db.appUrl,
    serviceUrl: proxy.url,
    connectionTimeoutMs: 1_000,
  });
  const valkey = testValkey();
  client = new ValkeyClient(valkey);
  subscriber = new ValkeySubscriber(valkey);
  wakeUps = new WakeUps(client, subscriber, newId());
  workspaceId = await aWorkspace(db.owner);
  await client.ready(5_000);
});

afterAll(async () => {
  wakeUps.close();
  client.close();
  subscriber.close();
  await database.close();
  await proxy.close();
  await db.drop();
});

function aServer() {
  const buffer = new HeartbeatBuffer();
  const facts = new AgentFacts(database, wakeUps);
  const store = new HeartbeatStore(client);
  const write = (line: string) => void lines.push(JSON.parse(line) as { message: string });
  const logger = Logger.create({ level: 'info', destination: { write } });
  const agents = { heartbeatFlushMs: 20, heartbeatHistorySeconds: 60, heartbeatRetentionDays: 7 };
  const config = { agents };
  const keys = new KeyRing(database, loadConfig(serverSettings(db, testValkey())));
  const values = new HeartbeatValues(database, new TaskSecrets(keys), new ValuesAtHand());
  const writer = new HeartbeatWriter(database, values, logger, config);
  const flusher = new HeartbeatFlusher(buffer, writer, facts, wakeUps, logger, config);
  return { buffer, flusher, heartbeats: new Heartbeats(facts, buffer, store) };
}

async function aCaller(): Promise<AgentCaller> {
  return { kind: 'agent', workspaceId, agentId: await anAgent(db.owner, workspaceId) };
}

async function stepOf({ agentId }: AgentCaller): Promise<string | undefined> {
  const { rows } = await db.owner.query<{ current_step: string }>(
    'SELECT current_step FROM agent_heartbeats WHERE agent_id = $1',
    [agentId],
  );
  return rows[0]?.current_step;
}

const step = (currentStep: string) => ({ status: 'healthy' as const, currentStep });

describe('heartbeats without Postgres', () => {
  it('heartbeats are accepted, the latest of each agent is kept, and written when Postgres is back', async () => {
    const { buffer, flusher, heartbeats } = aServer();
    const [known, unknown] = [await aCaller(), await aCaller()];
    await heartbeats.heartbeat(known, known.agentId, step('before'));
    await flusher.flush();
    proxy.cut();
    await heartbeats.heartbeat(known, known.agentId, step('one'));
    await flusher.flush();
    expect(buffer.size).toBe(1);
    await heartbeats.heartbeat(known, known.agentId, step('two'));
    // An unknown agent, whose token proves that it exists.
    await heartbeats.heartbeat(unknown, unknown.agentId, step('first'));
    await flusher.flush();
    expect(buffer.size).toBe(2);
    expect(await stepOf(known)).toBe('before');
    proxy.mend();
    await flusher.flush();
    expect(await stepOf(known)).toBe('two');
    expect(await stepOf(unknown)).toBe('first');
    expect(buffer.size).toBe(0);
    expect(lines.map(({ message }) => message)).toEqual([
      'heartbeats cannot be written; they are kept',
      'heartbeats can be written again',
    ]);
  });

  it("a heartbeat that waited longer than its agent's threshold revives nobody", async () => {
    const { buffer, flusher } = aServer();
    const agentId = await anAgent(db.owner, workspaceId, { lifecycle: 'ERROR' });
    const pending = (ageMs: number) => ({
      workspaceId,
      agentId,
      body: step('x'),
      receivedAt: performance.now() - ageMs,
    });
    const lifecycle = async () =>
      (await db.owner.query('SELECT lifecycle FROM agents WHERE id = $1', [agentId])).rows[0];
    buffer.put(pending(181_000));
    await flusher.flush();
    expect(await lifecycle()).toEqual({ lifecycle: 'ERROR' });
    buffer.put(pending(100_000));
    await flusher.flush();
    expect(await lifecycle()).toEqual({ lifecycle: 'ACTIVE' });
  });
});

describe('the flusher of a server', () => {
  it('a server flushes by itself, and once more when it ends', async () => {
    const { flusher, heartbeats } = aServer();
    const caller = await aCaller();
    flusher.onApplicationBootstrap();
    await heartbeats.heartbeat(caller, caller.agentId, step('running'));
    await waitFor('the flush', async () => (await stepOf(caller)) === 'running');
    const last = heartbeats.heartbeat(caller, caller.agentId, step('last'));
    await flusher.onApplicationShutdown();
    await last;
    expect(await stepOf(caller)).toBe('last');
  });
});
