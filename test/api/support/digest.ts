import { expect } from '@jest/globals';
import type pg from 'pg';

/** Tables without rows of tenants that servers change on their own, or for refused requests. */
const IGNORED = new Set([
  '_prisma_migrations',
  'coordinator_leadership',
  'coordinator_searches',
  'event_consumers',
  'event_numbers',
  'installation_audit_log',
]);

export type Digest = Record<string, string>;

/**
 * Hashes all rows of every table in all workspaces, without heartbeats, which are written later.
 */
export async function digestOf(owner: pg.Pool): Promise<Digest> {
  const tables = await tablesOfRequests(owner);
  return hashes(
    owner,
    tables.map(({ name }) => ({ name, where: 'true' })),
  );
}

/**
 * Counts and adds up the versions of rows. A later transaction has a greater number, so each change
 * of a row changes one of both. It takes a hundredth of the time of a digest.
 */
async function versionsOf(owner: pg.Pool): Promise<string> {
  const selects = (await tablesOfRequests(owner)).map(
    ({ name }) => `SELECT '${name}', count(*), sum(xmin::text::bigint) FROM ${name}`,
  );
  const { rows } = await owner.query({
    // Planning takes longer than counting, so the statement is prepared.
    name: 'versions of rows',
    text: selects.join(' UNION ALL '),
    rowMode: 'array',
  });
  return JSON.stringify(rows);
}

async function tablesOfRequests(owner: pg.Pool): Promise<Table[]> {
  return (await tablesOf(owner)).filter(({ name }) => !name.startsWith('agent_heartbeat'));
}

/** Hashes the rows that belong to one workspace, including its users and their sessions. */
export async function digestOfWorkspace(owner: pg.Pool, workspaceId: string): Promise<Digest> {
  const members = `(SELECT user_id FROM workspace_members WHERE workspace_id = '${workspaceId}')`;
  const tables = await tablesOf(owner);
  const parts = tables.flatMap(({ name, columns }) => {
    if (columns.includes('workspace_id'))
      return [{ name, where: `workspace_id = '${workspaceId}'` }];
    if (columns.includes('user_id')) return [{ name, where: `user_id IN ${members}` }];
    if (name === 'users') return [{ name, where: `id IN ${members}` }];
    if (name === 'workspaces') return [{ name, where: `id = '${workspaceId}'` }];
    return [];
  });
  return hashes(owner, parts);
}

/** The state of all tables, as the last walk has left it: it is the state before the next one. */
export class KeptState {
  private versions = '';

  private constructor(
    private readonly owner: pg.Pool,
    private readonly ignored: readonly string[],
    private last: Digest,
  ) {}

  /** @param ignored tables that a walk may change */
  static async of(owner: pg.Pool, ignored: readonly string[] = []): Promise<KeptState> {
    return new KeptState(owner, ignored, await digestOf(owner));
  }

  /** Whether any row was written since the last call, even with the same values. */
  async wasWritten(): Promise<boolean> {
    const before = this.versions;
    this.versions = await versionsOf(this.owner);
    return this.versions !== before;
  }

  /** Fails only for the walk that has changed a row, not for later walks. */
  async expectUnchanged(): Promise<void> {
    if (await this.wasWritten()) await this.expectSameRows();
  }

  /** Compares the values of all rows. */
  async expectSameRows(): Promise<void> {
    const before = this.last;
    this.last = await digestOf(this.owner);
    expect(this.withoutIgnored(this.last)).toEqual(this.withoutIgnored(before));
  }

  /** Accepts the current state after a walk that changes its own rows. */
  async renew(): Promise<void> {
    this.last = await digestOf(this.owner);
  }

  private withoutIgnored(digest: Digest): Digest {
    const kept = Object.entries(digest).filter(([name]) => !this.ignored.includes(name));
    return Object.fromEntries(kept);
  }
}

interface Table {
  name: string;
  columns: string[];
}

const known = new WeakMap<pg.Pool, Promise<Table[]>>();

function tablesOf(owner: pg.Pool): Promise<Table[]> {
  const tables =
    known.get(owner) ??
    owner
      .query<Table>(
        `SELECT table_name AS name, array_agg(column_name::text) AS columns
         FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
         WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
           AND NOT (SELECT relispartition FROM pg_class WHERE oid = table_name::regclass) GROUP BY table_name ORDER BY 1`,
      )
      .then(({ rows }) => rows.filter(({ name }) => !IGNORED.has(name)));
  known.set(owner, tables);
  return tables;
}

/** The last use of a key or a session is stored later, too. */
async function hashes(owner: pg.Pool, parts: { name: string; where: string }[]): Promise<Digest> {
  const selects = parts.map(
    ({ name, where }) =>
      `SELECT '${name}' AS name, count(*) || ' rows, ' || coalesce(md5(string_agg(row, '|' ORDER BY row)), '') AS hash
       FROM (SELECT (to_jsonb(r) - 'last_used_at')::text AS row FROM ${name} r WHERE ${where}) rows`,
  );
  const { rows } = await owner.query<{ name: string; hash: string }>(selects.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, hash }) => [name, hash]));
}
