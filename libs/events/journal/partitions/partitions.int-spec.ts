import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '#lib/observability';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { EventPruner } from './event-pruner.js';
import { makePartitions } from './partitions.sql.js';
import { readEnds } from '../store/cursor.sql.js';

const WORKSPACE = '0198c5a0-0000-7000-8000-000000000001';

let db: TestDatabase;
let pruner: EventPruner;

beforeAll(async () => {
  db = await createTestDatabase();
  const logger = Logger.create({ level: 'silent' });
  pruner = new EventPruner(db.database, logger, { roles: [], journal: { retentionDays: 30 } });
});

afterAll(() => db.drop());

/** The partitions of a table with their times, without the default one. */
async function partitionsOf(table: string): Promise<Record<string, string>> {
  const { rows } = await db.owner.query<{ name: string; bounds: string }>(
    `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = $1::regclass AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' ORDER BY 1`,
    [table],
  );
  return Object.fromEntries(rows.map(({ name, bounds }) => [name, bounds]));
}

async function make(weeks: number): Promise<number> {
  const [row] = await db.database.service.rows(makePartitions, [weeks]);
  return row?.made ?? -1;
}

/** Adds an event from some days ago. @returns its id and its partition */
async function addEvent(daysAgo: number): Promise<{ id: string; partition: string }> {
  const { rows } = await db.owner.query<{ id: string; partition: string }>(
    `INSERT INTO journal (workspace_id, event, actor_kind, created_at)
     VALUES ($1, 'task.of_a_test', 'system', now() - make_interval(days => $2))
     RETURNING id, tableoid::regclass::text AS partition`,
    [WORKSPACE, daysAgo],
  );
  return rows[0] as { id: string; partition: string };
}

describe('partitions', () => {
  it('concurrent servers create each partition ahead once', async () => {
    const before = Object.keys(await partitionsOf('journal')).length;
    const made = await Promise.all([make(8), make(8), make(8), make(8)]);
    expect(made.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 8]);
    expect(await make(8)).toBe(0);
    for (const table of ['journal', 'task_log_lines']) {
      expect(Object.keys(await partitionsOf(table))).toHaveLength(before + 4);
    }
  });

  it('partitions cover one week each from Monday to Monday without a gap', async () => {
    const { rows } = await db.owner.query<{ gap: boolean; monday: boolean }>(
      `SELECT f <> lag(t) OVER (ORDER BY f) AS gap, extract(isodow FROM f AT TIME ZONE 'UTC') = 1
         AND t - f = interval '7 days' AND f = date_trunc('day', f AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS monday
       FROM unnest($1::text[]) AS b (bounds), regexp_match(bounds, 'FROM \\(''(.*)''\\) TO \\(''(.*)''\\)') AS m,
         LATERAL (SELECT m[1]::timestamptz AS f, m[2]::timestamptz AS t) x
       WHERE m IS NOT NULL`,
      [Object.values(await partitionsOf('journal'))],
    );
    expect(rows.length).toBeGreaterThan(4);
    expect(rows.filter(({ gap, monday }) => gap || !monday)).toEqual([]);
  });

  it('partitions hold the rows of their week', async () => {
    const { partition } = await addEvent(-15);
    expect(partition).toMatch(/^journal_\d{4}w\d{2}$/);
  });

  it('a row of a week without a partition is stored, and no partition is created over it', async () => {
    const { partition } = await addEvent(-7 * 20);
    expect(partition).toBe('journal_default');
    // 12 weeks ahead of the existing ones. The week of that row stays with the default partition.
    expect(await make(20)).toBe(2 * 12 - 1);
    expect(await make(20)).toBe(0);
  });
});

describe('pruning', () => {
  beforeEach(async () => {
    await db.owner.query(
      `DELETE FROM journal; DROP TABLE IF EXISTS journal_before, task_log_lines_before, journal_old, journal_young,
         task_log_lines_old`,
    );
    for (const [name, from, to] of [
      ['journal_old', 60, 40],
      ['journal_young', 40, 20],
      ['task_log_lines_old', 60, 40],
    ] as const) {
      const { rows } = await db.owner.query<{ sql: string }>(
        `SELECT format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', $1::text,
           regexp_replace($1, '_[a-z]+$', ''), now() - make_interval(days => $2), now() - make_interval(days => $3)) AS sql`,
        [name, from, to],
      );
      await db.owner.query(rows[0]?.sql ?? '');
    }
  });

  const readUpTo = (id: string) =>
    db.owner.query(`UPDATE event_consumers SET position = $1 WHERE name = 'channels'`, [id]);

  it('partitions with only old rows are dropped', async () => {
    await addEvent(50);
    const { id } = await addEvent(25);
    await readUpTo(id);
    expect((await pruner.prune()).sort()).toEqual(['journal_old', 'task_log_lines_old']);
    expect(await partitionsOf('journal')).toHaveProperty('journal_young');
    expect(await pruner.prune()).toEqual([]);
    const { rows } = await db.owner.query('SELECT id FROM journal');
    expect(rows).toEqual([{ id }]);
  });

  it('a partition in use is left for the next time, and others are dropped', async () => {
    const { id } = await addEvent(50);
    await readUpTo(id);
    const before = (await db.database.service.rows(readEnds, [null]))[0]?.dropped;
    const user = await db.owner.connect();
    try {
      await user.query('BEGIN');
      await user.query('LOCK TABLE journal_old IN ACCESS SHARE MODE');
      expect(await pruner.prune()).toEqual(['task_log_lines_old']);
      expect((await db.database.service.rows(readEnds, [null]))[0]?.dropped).toBe(before);
    } finally {
      await user.query('ROLLBACK');
      user.release();
    }
    expect(await pruner.prune()).toEqual(['journal_old']);
  });

  it('pruning reports how far rows are gone', async () => {
    const dropped = async (): Promise<unknown> =>
      (await db.database.service.rows(readEnds, [null]))[0]?.dropped;
    const before = await dropped();
    const { id } = await addEvent(50);
    await readUpTo(id);
    expect(await dropped()).toBe(before);
    await pruner.prune();
    expect(await dropped()).toBe(id);
  });

  it('a partition that any consumer has not read is not dropped', async () => {
    const first = await addEvent(50);
    const second = await addEvent(50);
    await readUpTo(first.id);
    expect(await pruner.prune()).toEqual(['task_log_lines_old']);
    await readUpTo(second.id);
    await db.owner.query(`INSERT INTO event_consumers VALUES ('slow', $1)`, [first.id]);
    expect(await pruner.prune()).toEqual([]);
    await db.owner.query(`DELETE FROM event_consumers WHERE name = 'slow'`);
    expect(await pruner.prune()).toEqual(['journal_old']);
  });

  it('pruning also creates the partitions of the next weeks', async () => {
    const [last] = Object.keys(await partitionsOf('journal')).filter((name) => /w\d/.test(name));
    await db.owner.query(`DROP TABLE ${last}`);
    await pruner.prune();
    expect(await partitionsOf('journal')).toHaveProperty(last ?? '');
  });
});
