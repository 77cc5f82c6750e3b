import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { command, Database, query } from '#lib/database';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { waitFor } from '../wait-for.js';
import { PostgresProxy } from './postgres-proxy.js';

let db: TestDatabase;
let proxy: PostgresProxy;
let database: Database;

const note = command<{ id: string }>(
  'spec_note',
  `INSERT INTO coordinator_logs (instance_id, event) VALUES ('test', $1) RETURNING id`,
);
const notes = query<{ event: string }>(
  'spec_notes',
  'SELECT event FROM coordinator_logs WHERE event = $1',
);

beforeAll(async () => {
  db = await createTestDatabase();
});

beforeEach(async () => {
  proxy = await PostgresProxy.to(db.serviceUrl);
  database = new Database({
    appUrl: proxy.url,
    serviceUrl: proxy.url,
    statementTimeoutMs: 200,
    connectionTimeoutMs: 3_000,
  });
});

afterEach(async () => {
  proxy.mend();
  await database.close();
  await proxy.close();
});

afterAll(() => db.drop());

async function isWritten(event: string): Promise<boolean> {
  return (await db.database.service.rows(notes, [event])).length === 1;
}

const inTransaction = (event: string) =>
  database.service.transaction((tx) => tx.rows(note, [event]));

describe('a way to Postgres', () => {
  it('a proxy to Postgres passes statements and transactions', async () => {
    const [one, two] = [newId(), newId()];
    await database.service.rows(note, [one]);
    await inTransaction(two);
    expect(await isWritten(one)).toBe(true);
    expect(await isWritten(two)).toBe(true);
  });

  it.each(['a statement alone', 'a transaction'])(
    'a proxy to Postgres loses the answer of %s',
    async (kind) => {
      const event = newId();
      const lost = proxy.loseAnswerTo('spec_note');
      const writing =
        kind === 'a transaction' ? inTransaction(event) : database.service.rows(note, [event]);
      await expect(writing).rejects.toMatchObject({ code: 'outcome_unknown' });
      await lost;
      expect(await isWritten(event)).toBe(true);
      await inTransaction(newId());
    },
  );

  it('a proxy to Postgres does not mistake a rollback for a commit', async () => {
    const waiting = proxy.catch({ at: 'after-commit', statement: 'spec_note' });
    const failing = database.service.transaction(async (tx) => {
      await tx.rows(note, [newId()]);
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(waiting.isTaken).toBe(false);
  });

  it.each(['before', 'before-commit'] as const)(
    'a proxy to Postgres holds a transaction %s, and a dropped one has no effect',
    async (at) => {
      const event = newId();
      const held = proxy.catch({ at, statement: 'spec_note' });
      const writing = inTransaction(event).catch((error: unknown) => error);
      await held.reached;
      expect(await isWritten(event)).toBe(false);
      held.drop();
      expect(await writing).toMatchObject({
        code: at === 'before' ? 'database_unavailable' : 'outcome_unknown',
      });
      expect(await isWritten(event)).toBe(false);
    },
  );

  it('a proxy to Postgres releases a held transaction', async () => {
    const event = newId();
    const held = proxy.catch({ at: 'before-commit', statement: 'spec_note' });
    const writing = inTransaction(event);
    await held.reached;
    held.letGo();
    await writing;
    expect(await isWritten(event)).toBe(true);
  });

  it('a proxy to Postgres refuses connections while it is cut', async () => {
    proxy.faults.cut();
    await expect(inTransaction(newId())).rejects.toMatchObject({ code: 'database_unavailable' });
    proxy.mend();
    await inTransaction(newId());
  });

  it('a black hole loses all bytes, and its connections stay dead', async () => {
    await inTransaction(newId());
    proxy.faults.blackHole();
    const waiting = database.service.rows(notes, ['x']).catch((error: unknown) => error);
    proxy.mend();
    expect(await waiting).toMatchObject({ code: 'database_unavailable' });
    // Its pools refuse statements until a probe has had an answer.
    await waitFor('a new connection', () =>
      inTransaction(newId()).then(
        () => true,
        () => false,
      ),
    );
  });
});
