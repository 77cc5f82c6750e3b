import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { expectNothingLeftOpen } from '../support/leaks.js';
import { aTenant, refusalOf, type Tenant, tenantTables, tryAs } from './tenants.js';

const NOT_ALLOWED = '42501';

let db: TestDatabase;
let app: pg.Pool;
let service: pg.Pool;
let ours: Tenant;
let theirs: Tenant;
let tables: string[];

beforeAll(async () => {
  db = await createTestDatabase();
  app = new pg.Pool({ connectionString: db.appUrl, max: 1 });
  service = new pg.Pool({ connectionString: db.serviceUrl, max: 1 });
  ours = await aTenant(db.owner);
  theirs = await aTenant(db.owner);
  tables = await tenantTables(db.owner);
});

afterEach(() => expectNothingLeftOpen(db.owner));

afterAll(async () => {
  await Promise.all([app.end(), service.end()]);
  await db.drop();
});

async function count(client: pg.ClientBase | pg.Pool, from: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`);
  return rows[0]?.n ?? -1;
}

/** The tables of tenants on which drover_app has a privilege. */
async function allowed(privilege: string): Promise<string[]> {
  const { rows } = await db.owner.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) name WHERE has_table_privilege('drover_app', name, $2)`,
    [tables, privilege],
  );
  return rows.map((row) => row.name);
}

describe('every table of tenants', () => {
  it('tenant tables have row-level security, also for their owner, and a policy per role', async () => {
    const isMine = `= ( SELECT (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid AS "nullif")`;
    const { rows } = await db.owner.query<Record<string, unknown>>(
      `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
         ARRAY(SELECT concat_ws(' | ', p.policyname, p.permissive, p.roles[1], p.cmd,
             p.qual, p.qual = p.with_check)
           FROM pg_policies p WHERE p.schemaname = 'public' AND p.tablename = c.relname
           ORDER BY p.policyname) AS policies
       FROM pg_class c WHERE c.relname = ANY ($1) AND c.relkind IN ('r', 'p')`,
      [[...tables, 'workspaces']],
    );
    const owner = new URL(db.ownerUrl).username;
    expect(rows).toHaveLength(tables.length + 1);
    for (const { name, forced, policies } of rows) {
      const key = name === 'workspaces' ? 'id' : 'workspace_id';
      expect({ name, forced, policies }).toEqual({
        name,
        forced: true,
        policies: [
          // A function of the owner adds entries, and names their actors.
          ...(name === 'api_keys' ? [`audit | PERMISSIVE | ${owner} | SELECT | true`] : []),
          // The owner removes old entries, because no role of a server can.
          ...(name === 'audit_log' ? [`retention | PERMISSIVE | ${owner} | ALL | true`] : []),
          'service | PERMISSIVE | drover_service | ALL | true | t',
          `tenant | PERMISSIVE | drover_app | ALL | (${key} ${isMine}) | t`,
        ],
      });
    }
  });

  it('all other tables are listed, and drover_app can read only their public columns', async () => {
    const { rows } = await db.owner.query<{ name: string; may: string }>(
      `SELECT c.relname AS name, concat_ws(' ',
         CASE WHEN has_table_privilege('drover_app', c.oid, 'SELECT') THEN 'select' END,
         CASE WHEN has_table_privilege('drover_app', c.oid, 'INSERT') THEN 'insert' END,
         CASE WHEN has_table_privilege('drover_app', c.oid, 'UPDATE, DELETE') THEN 'change' END) AS may
       FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
         AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`,
    );
    expect(Object.fromEntries(rows.map(({ name, may }) => [name, may]))).toEqual({
      _prisma_migrations: '',
      // A view that reads with the rights of its reader.
      agent_task_logs: 'select',
      coordinator_leadership: 'select',
      coordinator_searches: '',
      data_keys: '',
      event_consumers: '',
      gateways: 'select',
      installation_audit_log: '',
      installation_pauses: 'select',
      installation_spawn_allowance: '',
      model_prices: 'select',
      token_revocations: 'select insert',
      usage_rollup_progress: 'select',
      user_factors: '',
      user_identities: '',
      user_recovery_codes: '',
      user_sessions: '',
    });
  });
});

describe('drover_app and drover_service', () => {
  it('drover_app and drover_service have no special privileges', async () => {
    const { rows } = await db.owner.query(
      `SELECT r.rolname FROM pg_roles r
       WHERE r.rolname IN ('drover_app', 'drover_service') AND NOT r.rolsuper AND NOT r.rolbypassrls
         AND NOT r.rolcreaterole AND NOT r.rolcreatedb AND NOT r.rolreplication
         AND NOT EXISTS (SELECT FROM pg_auth_members m WHERE m.member = r.oid)`,
    );
    expect(rows).toHaveLength(2);
  });

  it('drover_app and drover_service own nothing', async () => {
    const { rows } = await db.owner.query(
      `SELECT d.classid::regclass, d.objid FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid
       WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'o'
         AND r.rolname IN ('drover_app', 'drover_service')`,
    );
    expect(rows).toEqual([]);
  });
});

describe('a connection without a tenant', () => {
  it.each([
    ['nothing', null],
    ['an empty text', ''],
    ['a workspace that does not exist', '00000000-0000-0000-0000-000000000000'],
  ])('drover_app without a tenant sees no row of any tenant: %s', async (_what, tenant) => {
    const seen = await tryAs(app, tenant, async (client) => {
      const counts: Record<string, number> = {};
      for (const table of [...(await allowed('SELECT')), 'workspaces']) {
        counts[table] = await count(client, table);
      }
      counts['users'] = await count(client, '(SELECT id FROM users)');
      return counts;
    });
    expect(Object.values(seen).length).toBeGreaterThan(12);
    expect(Object.entries(seen).filter(([, n]) => n !== 0)).toEqual([]);
  });

  it('drover_app gets an error for an invalid tenant id', async () => {
    const refused = await refusalOf(tryAs(app, `x' OR true`, (c) => count(c, 'agent_tasks')));
    expect(refused).toMatchObject({ code: '22P02' });
  });

  it('drover_service without a tenant sees all rows', async () => {
    for (const table of tables) {
      expect([table, await count(service, table)]).toEqual([table, await count(db.owner, table)]);
    }
  });
});

describe('drover_app with a tenant', () => {
  it('drover_app with a tenant sees all of its rows, and no others', async () => {
    const readable = await allowed('SELECT');
    for (const table of readable) {
      const where = `${table} WHERE workspace_id = '${ours.workspaceId}'`;
      const own = await count(db.owner, where);
      const seen = await tryAs(app, ours.workspaceId, async (client) => [
        await count(client, table),
        await count(client, where),
      ]);
      expect([table, own > 0, ...seen]).toEqual([table, true, own, own]);
      expect(await count(db.owner, table)).toBeGreaterThan(own);
    }
    expect(readable).toContain('agent_tasks');
  });

  it('drover_app sees its workspace and its fellow members, but no password', async () => {
    await tryAs(app, ours.workspaceId, async (client) => {
      const workspaces = await client.query('SELECT id FROM workspaces');
      expect(workspaces.rows).toEqual([{ id: ours.workspaceId }]);
      const users = await client.query('SELECT id FROM users');
      expect(users.rows).toEqual([{ id: ours.userId }]);
      const secret = await refusalOf(client.query('SELECT password_hash FROM users'));
      expect(secret).toMatchObject({ code: NOT_ALLOWED });
    });
  });

  it('drover_app cannot insert a row of another tenant', async () => {
    const insertable = await allowed('INSERT');
    for (const table of insertable) {
      const refused = await refusalOf(
        tryAs(app, ours.workspaceId, (client) => insertTheirs(client, table)),
      );
      expect([table, refused?.message]).toEqual([
        table,
        `new row violates row-level security policy for table "${table}"`,
      ]);
    }
    expect(insertable).toContain('agent_tasks');
  });

  it('drover_app cannot give a row away, or touch a row of another tenant', async () => {
    const updatable = await allowed('UPDATE');
    for (const table of updatable) {
      await tryAs(app, ours.workspaceId, async (client) => {
        const theirRows = await client.query(
          `UPDATE ${table} SET workspace_id = $1 WHERE workspace_id = $2`,
          [ours.workspaceId, theirs.workspaceId],
        );
        const away = await refusalOf(
          client.query(`UPDATE ${table} SET workspace_id = $1`, [theirs.workspaceId]),
        );
        expect([table, theirRows.rowCount, away?.code]).toEqual([table, 0, NOT_ALLOWED]);
      });
    }
    expect(updatable).toContain('agent_tasks');
  });

  it("drover_app cannot delete another tenant's row, even in tables where it can delete", async () => {
    const deletable = await allowed('DELETE');
    for (const table of deletable) {
      const { rowCount } = await tryAs(app, ours.workspaceId, (client) =>
        client.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [theirs.workspaceId]),
      );
      expect([table, rowCount]).toEqual([table, 0]);
    }
    const mayGo = [
      'agent_secrets',
      'agent_task_tags',
      'agent_tokens',
      'artifacts',
      'host_credentials',
      'idempotency_keys',
      'inbound_hook_deliveries',
      'inbound_hooks',
      'model_providers',
      'project_secrets',
      'prompt_templates',
      'provider_limits',
      'schedule_secrets',
      'schedules',
      'task_dependencies',
      'task_secrets',
      'task_template_secrets',
      'task_templates',
      'webhooks',
      'workspace_invitations',
      'workspace_members',
    ];
    expect(deletable).toEqual(mayGo);
  });

  it('a transaction of drover_app leaves no tenant on the connection', async () => {
    await tryAs(app, ours.workspaceId, (client) => count(client, 'agent_tasks'));
    expect(await tryAs(app, null, (client) => count(client, 'agent_tasks'))).toBe(0);
  });
});

/** Inserts a copy of a row of the other tenant. */
async function insertTheirs(client: pg.PoolClient, table: string): Promise<void> {
  const columns = await db.owner.query<{ list: string }>(
    `SELECT string_agg(quote_ident(attname), ', ') AS list FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND attgenerated = '' AND attidentity = ''`,
    [table],
  );
  const row = await db.owner.query<{ row: unknown }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t WHERE workspace_id = $1 LIMIT 1`,
    [theirs.workspaceId],
  );
  const list = columns.rows[0]?.list ?? '';
  await client.query(
    `INSERT INTO ${table} (${list}) SELECT ${list} FROM jsonb_populate_record(NULL::${table}, $1)`,
    [row.rows[0]?.row],
  );
}

describe('a partition', () => {
  it.each([
    ['drover_app', () => app],
    ['drover_service', () => service],
  ])('a partition is reached only through its table by %s', async (_role, pool) => {
    const { rows } = await db.owner.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relispartition AND relkind = 'r'`,
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { name } of rows) {
      for (const sql of [`SELECT FROM ${name}`, `INSERT INTO ${name} DEFAULT VALUES`]) {
        const refused = await refusalOf(tryAs(pool(), ours.workspaceId, (c) => c.query(sql)));
        expect([sql, refused?.code]).toEqual([sql, NOT_ALLOWED]);
      }
    }
  });

  it('a partition has row-level security as well, in case a role gets access', async () => {
    const { rows } = await db.owner.query(
      `SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' AND NOT relrowsecurity`,
    );
    expect(rows).toEqual([]);
  });
});

describe('the log of a task, of transitions and lines', () => {
  it('the log of a task shows drover_app its own tenant only', async () => {
    const own = await count(db.owner, `agent_task_logs WHERE workspace_id = '${ours.workspaceId}'`);
    const seen = await tryAs(app, ours.workspaceId, (client) => count(client, 'agent_task_logs'));
    expect(seen).toBe(own);
    expect(await count(db.owner, 'agent_task_logs')).toBeGreaterThan(own);
    expect(await tryAs(app, null, (client) => count(client, 'agent_task_logs'))).toBe(0);
  });
});

describe('recorded history', () => {
  it.each([
    'DELETE FROM agent_tasks',
    'DELETE FROM task_runs',
    'DELETE FROM journal',
    'DELETE FROM task_log_lines',
    'DELETE FROM event_numbers',
    'DELETE FROM agents',
    'DELETE FROM coordinator_logs',
    `UPDATE journal SET message = 'another'`,
    `UPDATE task_log_lines SET message = 'another'`,
    'UPDATE event_numbers SET last_number = 0',
    'UPDATE event_consumers SET position = 0',
    'SELECT * FROM event_consumers',
    'SELECT make_journal_partitions(1)',
    `SELECT drop_journal_partitions('0')`,
    `UPDATE agent_task_tags SET tag = 'another'`,
    'UPDATE users SET is_operator = true',
    'DELETE FROM token_revocations',
    'UPDATE coordinator_leadership SET epoch = 0',
    'TRUNCATE journal',
    'TRUNCATE task_log_lines',
    'ALTER TABLE agent_tasks DISABLE ROW LEVEL SECURITY',
    'DROP POLICY tenant ON agent_tasks',
    'CREATE TABLE own (id int)',
    'SET ROLE drover_service',
    'SET row_security = off; SELECT * FROM agent_tasks',
  ])('history is safe from drover_app: %s', async (sql) => {
    const refused = await refusalOf(tryAs(app, ours.workspaceId, (client) => client.query(sql)));
    expect(refused).toMatchObject({ code: NOT_ALLOWED });
  });

  it.each([
    'DELETE FROM agent_tasks',
    'DELETE FROM task_runs',
    'DELETE FROM journal',
    'DELETE FROM task_log_lines',
    `UPDATE journal SET message = 'another'`,
    `UPDATE task_log_lines SET message = 'another'`,
    'DELETE FROM _prisma_migrations',
    `UPDATE _prisma_migrations SET checksum = ''`,
    'TRUNCATE journal',
    'TRUNCATE task_log_lines',
    'CREATE TABLE own (id int)',
  ])('history is safe from drover_service: %s', async (sql) => {
    const refused = await refusalOf(tryAs(service, null, (client) => client.query(sql)));
    expect(refused).toMatchObject({ code: NOT_ALLOWED });
  });
});
