import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { databaseShape } from './database-shape.js';
import { prismaShape } from './prisma-shape.js';
import type { SchemaShape, TableShape } from './shape.js';

let db: TestDatabase;
let made: SchemaShape;
let described: SchemaShape;

beforeAll(async () => {
  db = await createTestDatabase();
  [made, described] = await Promise.all([databaseShape(db.owner), prismaShape()]);
});

afterAll(() => db.drop());

function each<Part extends keyof TableShape>(
  shape: SchemaShape,
  part: Part,
): Record<string, TableShape[Part]> {
  return Object.fromEntries(Object.entries(shape).map(([name, table]) => [name, table[part]]));
}

describe('schema.prisma', () => {
  it('schema.prisma has the tables of the migrations', () => {
    expect(Object.keys(described).sort()).toEqual(Object.keys(made).sort());
    expect(Object.keys(made)).toContain('agent_tasks');
  });

  it('schema.prisma has their columns with type, nullability and default', () => {
    expect(each(described, 'columns')).toEqual(each(made, 'columns'));
  });

  it('schema.prisma has the primary keys', () => {
    expect(each(described, 'primaryKey')).toEqual(each(made, 'primaryKey'));
  });

  it('schema.prisma has the foreign keys with the effect of deletions', () => {
    expect(each(described, 'foreignKeys')).toEqual(each(made, 'foreignKeys'));
    expect(made['event_numbers']?.foreignKeys).toEqual([
      '(consumer) -> event_consumers (name) on delete Cascade on update NoAction',
    ]);
  });

  it('schema.prisma has the indexes', () => {
    expect(sorted(each(described, 'indexes'))).toEqual(sorted(each(made, 'indexes')));
  });

  it('schema.prisma has the partial indexes in comments', () => {
    expect(sorted(each(described, 'partialIndexes'))).toEqual(sorted(each(made, 'partialIndexes')));
    expect(made['journal']?.partialIndexes).toContain('journal_task_idx');
  });

  it('schema.prisma has the generated columns in the comment at the top', async () => {
    const { rows } = await db.owner.query<{ name: string }>(
      `SELECT attrelid::regclass || '.' || attname AS name FROM pg_attribute a
         JOIN pg_class c ON c.oid = a.attrelid
       WHERE a.attgenerated <> '' AND c.relkind = 'r' ORDER BY 1`,
    );
    const schema = await readFile('prisma/schema.prisma', 'utf8');
    const comment = /generated columns \(([^:]*): never write them\)/.exec(schema)?.[1];
    expect(comment?.split(/,[\s/]*/).sort()).toEqual(rows.map((row) => row.name).sort());
  });
});

/**
 * In Postgres 18 such a trigger would make `old` the row of the snapshot, although another
 * transaction has changed it since.
 */
it('no table has a trigger before the update of each row', async () => {
  const { rows } = await db.owner.query<{ name: string }>(
    `SELECT tgrelid::regclass || '.' || tgname AS name FROM pg_trigger
     WHERE NOT tgisinternal AND tgtype & 1 = 1 AND tgtype & 2 = 2 AND tgtype & 16 = 16`,
  );
  expect(rows).toEqual([]);
});

function sorted(lists: Record<string, string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, [...list].sort()]));
}
