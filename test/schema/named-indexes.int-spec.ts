import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { readSources } from '../../tools/generate/statements.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

it("every index that a statement's comment names exists", async () => {
  const sources = readSources(join(import.meta.dirname, '../..'));
  const { rows } = await db.owner.query<{ name: string; is_index: boolean }>(
    `SELECT relname AS name, true AS is_index FROM pg_class WHERE relkind IN ('i', 'I')
     UNION ALL SELECT attname, false FROM pg_attribute`,
  );
  const indexes = new Set(rows.filter((row) => row.is_index).map(({ name }) => name));
  // Some columns are called keys, and so is a kind of actor.
  const known = new Set([...rows.map(({ name }) => name), 'api_key']);
  const named = sources.flatMap(({ path, text }) => {
    const comments = text.split('\n').filter((line) => /^(?:\/?\*|\/\/|--)/.test(line.trim()));
    return (comments.join('\n').match(/\b[a-z]\w*_(?:idx|key|pkey)\b/g) ?? []).map((name) => ({
      path,
      name,
    }));
  });
  expect(named.filter(({ name }) => indexes.has(name)).length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
});
