import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { command, Database } from '#lib/database';
import { type EmbeddedValkey, startEmbeddedValkey } from '#lib/local-servers';
import { newId } from '#lib/kernel';
import { ValkeyClient } from '#lib/valkey';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { LeadershipLost } from './fence.js';
import { Leadership } from './leadership.js';

const MINUTE = 60;

let db: TestDatabase;
let valkey: EmbeddedValkey;
let keyPrefix: string;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  // These tests stop and flush the server, so they use one of their own.
  [db, valkey] = await Promise.all([createTestDatabase(), startEmbeddedValkey()]);
});

beforeEach(async () => {
  keyPrefix = `${newId()}:`;
  await db.owner.query('UPDATE coordinator_leadership SET leased_until = NULL');
});

afterEach(async () => {
  process.kill(valkey.pid, 'SIGCONT');
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(async () => {
  await Promise.all([db.drop(), valkey.stop()]);
});

async function aClient(): Promise<ValkeyClient> {
  const client = new ValkeyClient({ url: valkey.url, keyPrefix, commandTimeoutMs: 300 });
  undo.push(() => client.close());
  await client.ready(5_000);
  return client;
}

interface ServerOptions {
  ttlSeconds?: number;
  database?: Database;
  client?: ValkeyClient;
}

async function aServer(options: ServerOptions = {}): Promise<Leadership> {
  const { ttlSeconds = MINUTE, database = db.database } = options;
  const client = options.client ?? (await aClient());
  return new Leadership(database, client, {
    coordinator: { cron: '', lockTtlSeconds: ttlSeconds, reconcileIntervalSeconds: 60 },
    instanceId: undefined,
  });
}

const note = command<unknown>(
  'spec_fenced_note',
  `INSERT INTO coordinator_logs (instance_id, event) VALUES ('test', $1)`,
);

/** Writes one line behind the fence, in one transaction, like a sweep. */
async function sweep(server: Leadership, event: string, meanwhile?: Promise<void>): Promise<void> {
  const fence = server.fence();
  await db.database.service.transaction(async (tx) => {
    await fence(tx);
    await tx.rows(note, [event]);
    await meanwhile;
  });
}

async function isWritten(event: string): Promise<boolean> {
  const { rows } = await db.owner.query('SELECT FROM coordinator_logs WHERE event = $1', [event]);
  return rows.length > 0;
}

async function storedEpoch(): Promise<string> {
  const { rows } = await db.owner.query<{ epoch: string }>(
    'SELECT epoch FROM coordinator_leadership',
  );
  return rows[0]?.epoch ?? '';
}

function gate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

async function waitForOpenTransaction(): Promise<void> {
  await waitFor('the sweep to be under way', async () => {
    const { rows } = await db.owner.query(
      // The sweep is past its fence, not between its begin and its fence.
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
         AND state = 'idle in transaction' AND query LIKE 'INSERT INTO coordinator_logs%'`,
    );
    return rows.length > 0;
  });
}

async function waitForLockWaiter(): Promise<void> {
  await waitFor('somebody to wait for a lock', async () => {
    const { rows } = await db.owner.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
}

describe('leadership', () => {
  it('one server leads, and another does at once when it resigns', async () => {
    const [first, second] = [await aServer(), await aServer()];
    expect(await first.keep()).toBe(true);
    expect(await second.keep()).toBe(false);
    expect(await first.keep()).toBe(true);
    const { epoch } = first;
    await first.resign();
    expect(first.epoch).toBeUndefined();
    expect(await second.keep()).toBe(true);
    expect(BigInt(second.epoch ?? 0)).toBe(BigInt(epoch ?? 0) + 1n);
    expect(await first.keep()).toBe(false);
  });

  it('a renewed leadership keeps its epoch, in Postgres as well', async () => {
    const server = await aServer({ ttlSeconds: 0.3 });
    await server.keep();
    const { epoch } = server;
    const { rows } = await db.owner.query('SELECT leased_until FROM coordinator_leadership');
    await waitFor('a renewal', async () => {
      await server.keep();
      const now = await db.owner.query('SELECT leased_until FROM coordinator_leadership');
      return now.rows[0].leased_until > rows[0].leased_until;
    });
    expect(server.epoch).toBe(epoch);
  });

  it('a flushed Valkey leaves one leader, and the old one writes nothing more', async () => {
    const [old, next] = [await aServer({ ttlSeconds: 0.2 }), await aServer()];
    await old.keep();
    await sweep(old, 'before');
    await (await aClient()).commands.flushall();
    expect(await next.keep()).toBe(true);

    await expect(sweep(old, 'of the old one')).rejects.toBeInstanceOf(LeadershipLost);
    expect(await isWritten('before')).toBe(true);
    expect(await isWritten('of the old one')).toBe(false);
    await waitFor('the old one to notice', async () => !(await old.keep()));
    await sweep(next, 'of the next one');
  });

  it('the leader changes only after the current sweeps have ended', async () => {
    const [old, next] = [await aServer(), await aServer()];
    await old.keep();
    const { open, opened } = gate();
    const sweeping = sweep(old, 'just in time', opened);
    await waitForOpenTransaction();
    const before = await storedEpoch();
    await (await aClient()).commands.flushall();
    const taking = next.keep();
    await waitForLockWaiter();
    expect(await storedEpoch()).toBe(before);
    open();
    await sweeping;
    expect(await taking).toBe(true);
    expect(await isWritten('just in time')).toBe(true);
  });

  it('the leadership is renewed during a sweep', async () => {
    const server = await aServer({ ttlSeconds: 2 });
    await server.keep();
    const { open, opened } = gate();
    const sweeping = sweep(server, 'slow', opened);
    sweeping.catch(() => undefined);
    await waitForOpenTransaction();
    const { rows } = await db.owner.query('SELECT leased_until FROM coordinator_leadership');
    await waitFor('a renewal', async () => {
      expect(await server.keep()).toBe(true);
      const now = await db.owner.query('SELECT leased_until FROM coordinator_leadership');
      return now.rows[0].leased_until > rows[0].leased_until;
    });
    open();
    // If the renewal had waited for the sweep, Postgres would have ended the sweep as idle.
    await sweeping;
    expect(await isWritten('slow')).toBe(true);
  });

  it('a leader that fell asleep in a sweep loses the leadership', async () => {
    const [asleep, next] = [await aServer({ ttlSeconds: 0.3 }), await aServer()];
    await asleep.keep();
    const { open, opened } = gate();
    const sweeping = sweep(asleep, 'slept through', opened);
    sweeping.catch(() => undefined);
    // The lock in Valkey expires, then Postgres ends the idle transaction.
    await waitFor('the next one to lead', () => next.keep());
    open();
    await expect(sweeping).rejects.toThrow();
    expect(await isWritten('slept through')).toBe(false);
  });
});

describe('leadership without Valkey', () => {
  it('the leader keeps the leadership without Valkey', async () => {
    const [leader, other] = [await aServer({ ttlSeconds: 2 }), await aServer({ ttlSeconds: 2 })];
    await leader.keep();
    const { epoch } = leader;
    process.kill(valkey.pid, 'SIGSTOP');
    const { rows } = await db.owner.query('SELECT leased_until FROM coordinator_leadership');
    await waitFor('a renewal', async () => {
      expect(await leader.keep()).toBe(true);
      expect(await other.keep()).toBe(false);
      const now = await db.owner.query('SELECT leased_until FROM coordinator_leadership');
      return now.rows[0].leased_until > rows[0].leased_until;
    });
    expect(leader.epoch).toBe(epoch);
    await sweep(leader, 'without Valkey');
  });

  it('without Valkey, one server wins when the lease in Postgres has expired', async () => {
    const [first, second] = [await aServer(), await aServer()];
    process.kill(valkey.pid, 'SIGSTOP');
    const led = await Promise.all([first.keep(), second.keep()]);
    expect(led.filter(Boolean)).toHaveLength(1);
    const [leader, other] = led[0] ? [first, second] : [second, first];
    expect(await other.keep()).toBe(false);
    await db.owner.query(`UPDATE coordinator_leadership SET leased_until = now() - interval '1 s'`);
    expect(await other.keep()).toBe(true);
    await expect(sweep(leader, 'deposed')).rejects.toBeInstanceOf(LeadershipLost);
  });
});

describe('leadership without Postgres', () => {
  it('without Postgres, the leader gives the lock to a server that can reach it', async () => {
    const url = 'postgres://nobody:secret@127.0.0.1:1/nothing';
    const away = new Database({ appUrl: url, serviceUrl: url, connectionTimeoutMs: 500 });
    undo.push(() => away.close());
    const [cutOff, other] = [await aServer({ database: away }), await aServer()];
    await expect(cutOff.keep()).rejects.toBeDefined();
    expect(await other.keep()).toBe(true);
  });
});
