import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, aWorkspace } from '../../../test/support/factories.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.js';
import { command, Database, lastDrawn, query, type SqlRunner } from './index.js';

let db: TestDatabase;
/** A single connection, so that the next statement meets whatever a statement leaves behind. */
let single: Database;
let one: string;
let two: string;

const agentNames = query<{ workspace_id: string }>(
  'spec_agents',
  'SELECT workspace_id FROM agents',
);
const insertWorkspaceRow = command(
  'spec_insert',
  'INSERT INTO projects (workspace_id, id, name) VALUES ($1, gen_random_uuid(), $2)',
);
const currentTenant = query<{ tenant: string }>(
  'spec_tenant',
  `SELECT coalesce(current_setting('app.workspace_id', true), '') AS tenant`,
);

beforeAll(async () => {
  db = await createTestDatabase();
  single = new Database({ appUrl: db.appUrl, serviceUrl: db.serviceUrl, maxAppConnections: 1 });
  one = await aWorkspace(db.owner);
  two = await aWorkspace(db.owner);
  await anAgent(db.owner, one);
  await anAgent(db.owner, two);
});

afterAll(async () => {
  await single.close();
  await db.drop();
});

const tenantsSeenBy = async (workspaceId: string) =>
  (await single.tenant(workspaceId).rows(agentNames)).map((row) => row.workspace_id);

describe('a statement for a tenant', () => {
  it('a statement sees only its tenant on a connection that has served another', async () => {
    for (const id of [one, two, one, two]) expect(await tenantsSeenBy(id)).toEqual([id]);
  });

  it('concurrent statements see only their own tenants', async () => {
    const ids = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? one : two));
    const seen = await Promise.all(ids.map(tenantsSeenBy));
    expect(seen).toEqual(ids.map((id) => [id]));
  });

  it('a statement cannot write a row of another tenant', async () => {
    const foreign = single.tenant(one).rows(insertWorkspaceRow, [two, 'intruder']);
    await expect(foreign).rejects.toThrow(/row-level security/);
    const { rows } = await db.owner.query(`SELECT 1 FROM projects WHERE name = 'intruder'`);
    expect(rows).toEqual([]);
  });

  it('a statement leaves no tenant behind, whether it succeeds or fails', async () => {
    await single.tenant(one).rows(agentNames);
    await expect(single.tenant(one).rows(query('spec_broken', 'SELECT 1 / 0'))).rejects.toThrow();
    const rest = await single.tenant(two).transaction(async (tx) => tx.rows(currentTenant));
    expect(rest).toEqual([{ tenant: two }]);
  });

  it('a failed statement is rolled back as a whole', async () => {
    const failing = command(
      'spec_failing',
      `WITH made AS (INSERT INTO projects (workspace_id, id, name)
        VALUES ($1, gen_random_uuid(), 'half') RETURNING 1)
       SELECT 1 / (SELECT count(*) - 1 FROM made)`,
    );
    await expect(single.tenant(one).rows(failing, [one])).rejects.toThrow(/division by zero/);
    const { rows } = await db.owner.query(`SELECT 1 FROM projects WHERE name = 'half'`);
    expect(rows).toEqual([]);
  });

  it('a statement past its time limit is cancelled, and the client may retry', async () => {
    const hasty = new Database({
      appUrl: db.appUrl,
      serviceUrl: db.serviceUrl,
      statementTimeoutMs: 100,
    });
    const slow = command('spec_slow', 'SELECT pg_sleep(30)');
    const outcomes = await Promise.allSettled([
      hasty.tenant(one).rows(slow),
      hasty.tenant(one).transaction((tx) => tx.rows(slow)),
    ]);
    const givenUp = { status: 'rejected', reason: { code: 'conflict_retry' } };
    expect(outcomes).toMatchObject([givenUp, givenUp]);
    expect(hasty.usage()[0]).toMatchObject({ busy: 0, idle: 2 });
    await hasty.close();
  });

  it('a request that waits for a locked table is cancelled, and the client may retry', async () => {
    const locker = await db.owner.connect();
    await locker.query('BEGIN; LOCK TABLE projects');
    const tenant = db.database.tenant(one);
    const outcomes = await Promise.allSettled([
      tenant.rows(insertWorkspaceRow, [one, 'locked']),
      tenant.transaction((tx) => tx.rows(insertWorkspaceRow, [one, 'locked'])),
      tenant.prisma((tx) => tx.project.findMany()),
    ]);
    await locker.query('ROLLBACK');
    locker.release();
    const givenUp = { status: 'rejected', reason: { code: 'conflict_retry' } };
    expect(outcomes).toMatchObject([givenUp, givenUp, givenUp]);
  });

  it('the server ends a session whose transaction stays open', async () => {
    const limit = query<{ limit: string }>(
      'spec_limit',
      `SELECT current_setting('transaction_timeout') AS limit`,
    );
    expect(await db.database.tenant(one).rows(limit)).toEqual([{ limit: '1min' }]);
    expect(await db.database.service.rows(limit)).toEqual([{ limit: '1min' }]);
  });

  it('a statement works again after its connection was ended', async () => {
    await single.tenant(one).rows(agentNames);
    await db.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = 'drover_app' AND datname = current_database()`,
    );
    await single
      .tenant(one)
      .rows(agentNames)
      .catch(() => undefined);
    expect(await tenantsSeenBy(one)).toEqual([one]);
  });
});

describe('a pipeline for a tenant', () => {
  const insertNamed = command<{ name: string }>(
    'spec_insert_named',
    'INSERT INTO projects (workspace_id, id, name) VALUES ($1, gen_random_uuid(), $2) RETURNING name',
  );
  const countNamed = query<{ n: number }>(
    'spec_count_named',
    'SELECT count(*)::int AS n FROM projects WHERE name = $1',
  );
  const refused = command('spec_refused', 'SELECT 1 / $1::int');

  it('each statement of a pipeline returns its rows and sees the effects of those before it', async () => {
    const silent = command('spec_silent', 'UPDATE projects SET name = name WHERE name = $1');
    for (const name of ['piped', 'piped again']) {
      const steps = [
        [insertNamed, [one, name]],
        [silent, [name]],
        [countNamed, [name]],
        [currentTenant],
      ] as const;
      expect(await single.tenant(one).pipeline(steps)).toEqual([
        [{ name }],
        [],
        [{ n: 1 }],
        [{ tenant: one }],
      ]);
    }
    expect(await single.tenant(two).rows(countNamed, ['piped'])).toEqual([{ n: 0 }]);
  });

  it('a failed pipeline is rolled back as a whole, and its statements work again', async () => {
    const other = command('spec_other_insert', `${insertNamed.text} || ''`);
    const failing = single.tenant(one).pipeline([
      [insertNamed, [one, 'undone']],
      [refused, [0]],
      [other, [one, 'undone']],
    ]);
    await expect(failing).rejects.toThrow(/division by zero/);
    const foreign = single.tenant(one).pipeline([
      [insertNamed, [one, 'undone']],
      [insertNamed, [two, 'undone']],
    ]);
    await expect(foreign).rejects.toThrow(/row-level security/);
    expect(await single.tenant(one).rows(countNamed, ['undone'])).toEqual([{ n: 0 }]);
    await single.tenant(one).pipeline([
      [refused, [1]],
      [other, [one, 'done']],
    ]);
    expect(await single.tenant(one).rows(countNamed, ['done'])).toEqual([{ n: 1 }]);
  });

  it('a pipeline with values that cannot be sent does nothing', async () => {
    const circular: unknown[] = [];
    circular.push({ circular });
    const steps = [
      [insertNamed, [one, 'unsent']],
      [refused, [{ circular }]],
      [insertNamed, [one, 'unsent']],
    ] as const;
    await expect(single.tenant(one).pipeline(steps)).rejects.toThrow();
    expect(await single.tenant(one).rows(countNamed, ['unsent'])).toEqual([{ n: 0 }]);
  });
});

describe('a transaction', () => {
  it.each(['transaction', 'prisma'] as const)(
    'a transaction is repeated after a deadlock (%s)',
    async (how) => {
      const [first, second] = [await anAgent(db.owner, one), await anAgent(db.owner, one)];
      const touch = command(
        'spec_touch',
        'UPDATE agents SET updated_at = now() WHERE workspace_id = $1 AND id = $2',
      );
      const meeting = meetOnce();
      const work = async (tx: SqlRunner, ids: string[]) => {
        await tx.rows(touch, [one, ids[0]]);
        await meeting();
        await tx.rows(touch, [one, ids[1]]);
      };
      const tenant = db.database.tenant(one);
      const inOrder = (ids: string[]) =>
        how === 'prisma'
          ? tenant.prisma((_, sql) => work(sql, ids))
          : tenant.transaction((tx) => work(tx, ids));
      await expect(
        Promise.all([inOrder([first, second]), inOrder([second, first])]),
      ).resolves.toBeDefined();
    },
  );
});

/** Lets the first two callers continue together. Later callers (repetitions) do not wait. */
function meetOnce(): () => Promise<void> {
  let arrived = 0;
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  return () => {
    arrived += 1;
    if (arrived >= 2) open();
    return gate;
  };
}

it('Prisma reads and writes the same times in any time zone of the database', async () => {
  await db.owner.query(`DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$`);
  const elsewhere = new Database({ appUrl: db.appUrl, serviceUrl: db.serviceUrl });
  try {
    const archivedAt = new Date('2026-03-01T12:00:00Z');
    const written = await elsewhere.service.prisma((tx) =>
      tx.workspace.update({ where: { id: one }, data: { archivedAt } }),
    );
    expect(written.archivedAt).toEqual(archivedAt);
    const { rows } = await db.owner.query('SELECT archived_at FROM workspaces WHERE id = $1', [
      one,
    ]);
    expect(rows).toEqual([{ archived_at: archivedAt }]);
  } finally {
    await elsewhere.close();
  }
});

it('the last number of a sequence never goes back while others draw from it', async () => {
  await db.owner.query('CREATE SEQUENCE drawn');
  await db.owner.query(`CREATE FUNCTION steps_back() RETURNS int LANGUAGE plpgsql AS $$
    DECLARE
      earlier bigint;
      back int := 0;
    BEGIN
      FOR look IN 1 .. 50000 LOOP
        earlier := ${lastDrawn('drawn')};
        IF ${lastDrawn('drawn')} < earlier THEN back := back + 1; END IF;
      END LOOP;
      RETURN back;
    END $$`);
  let looking = true;
  const draw = async (): Promise<void> => {
    while (looking) await db.owner.query(`SELECT nextval('drawn') FROM generate_series(1, 200)`);
  };
  const drawing = [draw(), draw()];
  const { rows } = await db.owner.query(
    'SELECT sum(steps_back()) AS back FROM generate_series(1, 5)',
  );
  looking = false;
  await Promise.all(drawing);
  expect(rows).toEqual([{ back: '0' }]);
});
