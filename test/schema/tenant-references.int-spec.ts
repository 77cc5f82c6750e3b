import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { aTenant, refusalOf, type Tenant, tenantTables, tryAs } from './tenants.js';

const FOREIGN_KEY_VIOLATION = '23503';
const RESTRICT_VIOLATION = '23001';

interface Reference {
  name: string;
  table: string;
  target: string;
  columns: string[];
  keys: string[];
}

let db: TestDatabase;
let ours: Tenant;
let theirs: Tenant;
/** Every foreign key from one table of tenants to another. */
let references: Reference[];

beforeAll(async () => {
  db = await createTestDatabase();
  ours = await aTenant(db.owner);
  theirs = await aTenant(db.owner);
  const names = (relation: string, keys: string) => `ARRAY(
    SELECT a.attname::text FROM unnest(${keys}) WITH ORDINALITY AS k (attnum, n)
      JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.attnum ORDER BY k.n)`;
  const { rows } = await db.owner.query<Reference>(
    `SELECT x.conname AS name, x.conrelid::regclass::text AS table, x.confrelid::regclass::text AS target,
       ${names('x.conrelid', 'x.conkey')} AS columns, ${names('x.confrelid', 'x.confkey')} AS keys
     FROM pg_constraint x
     WHERE x.contype = 'f' AND x.conrelid::regclass::text = ANY ($1)
       AND x.confrelid::regclass::text = ANY ($1) ORDER BY 1`,
    [await tenantTables(db.owner)],
  );
  references = rows;
});

afterAll(() => db.drop());

/**
 * Points one row of the tenant to a row of another tenant, or to another row of its own, and undoes
 * it.
 */
function pointAt(tenant: Tenant, reference: Reference): Promise<number | null> {
  const { table, target, columns, keys } = reference;
  const others = (names: string[]) => names.filter((name) => name !== 'workspace_id').join(', ');
  return tryAs(db.owner, null, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE ${table} SET (${others(columns)}) = (
         SELECT ${others(keys)} FROM ${target} WHERE workspace_id = $2 ORDER BY ${others(keys)} LIMIT 1)
       WHERE ctid = (SELECT ctid FROM ${table} WHERE workspace_id = $1 LIMIT 1)`,
      [ours.workspaceId, tenant.workspaceId],
    );
    return rowCount;
  });
}

describe('a reference from one row of a tenant to another', () => {
  it('a reference between rows of a tenant includes the workspace', () => {
    const loose = references.filter(
      ({ columns, keys }) => columns[0] !== 'workspace_id' || keys[0] !== 'workspace_id',
    );
    expect(loose).toEqual([]);
    expect(references.length).toBeGreaterThan(5);
  });

  it('a reference to a row of another tenant is refused despite row-level security', async () => {
    for (const reference of references) {
      const refused = await refusalOf(pointAt(theirs, reference));
      expect([reference.name, refused?.code]).toEqual([reference.name, FOREIGN_KEY_VIOLATION]);
    }
  });

  it('a reference within one tenant is accepted', async () => {
    for (const reference of references) {
      const { code = 'accepted' } = (await refusalOf(pointAt(ours, reference))) ?? {};
      // Two rows of the tenant can't have the same edge or run: the reference was valid.
      expect([reference.name, ['accepted', '23505', '23514'].includes(code)]).toEqual([
        reference.name,
        true,
      ]);
    }
  });
});

describe('a row that others refer to', () => {
  it.each([
    ['workspaces', 'DELETE FROM workspaces'],
    ['users', 'DELETE FROM users'],
    ['projects', 'DELETE FROM projects'],
    ['agents', 'DELETE FROM agents'],
    ['agent_tasks', 'DELETE FROM agent_tasks'],
    ['task_runs', 'DELETE FROM task_runs'],
    ['workspaces, with all that refers to them', 'TRUNCATE workspaces CASCADE'],
    ['users, with all that refers to them', 'TRUNCATE users CASCADE'],
    ['agents, with all that refers to them', 'TRUNCATE agents CASCADE'],
    ['agent_tasks, with all that refers to them', 'TRUNCATE agent_tasks CASCADE'],
    ['task_runs, with all that refers to them', 'TRUNCATE task_runs CASCADE'],
  ])('rows with references are kept, also from the owner: %s', async (_rows, sql) => {
    const refused = await refusalOf(tryAs(db.owner, null, (client) => client.query(sql)));
    expect(refused).toMatchObject({ code: RESTRICT_VIOLATION });
  });
});
