import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startCluster, type TestCluster } from '../../../../test/support/cluster.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { migrate } from './index.js';

let cluster: TestCluster;
let ownerUrl: string;

beforeAll(async () => {
  cluster = await startCluster();
  ownerUrl = await cluster.newDatabase();
  await migrate({ ownerUrl });
});

afterAll(() => cluster.stop());

function as(username: string, password: string, url = ownerUrl): string {
  return Object.assign(new URL(url), { username, password }).href;
}

async function whoIs(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>('SELECT current_user AS name');
    return rows[0]?.name;
  } finally {
    await client.end();
  }
}

async function storedPassword(role: string): Promise<string | null> {
  const { rows } = await cluster.admin.query<{ rolpassword: string | null }>(
    'SELECT rolpassword FROM pg_authid WHERE rolname = $1',
    [role],
  );
  return rows[0]?.rolpassword ?? null;
}

describe('the two roles', () => {
  it('the migration creates both roles without a way to sign in', async () => {
    const { rows } = await cluster.admin.query(
      `SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
        rolreplication
       FROM pg_roles WHERE rolname LIKE 'drover%' ORDER BY 1`,
    );
    const powerless = {
      rolcanlogin: false,
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
    };
    expect(rows).toEqual([
      { rolname: 'drover_app', ...powerless },
      { rolname: 'drover_service', ...powerless },
    ]);
  });

  it.each([
    ['drover_app', 'appUrl'],
    ['drover_service', 'serviceUrl'],
  ])('both roles sign in only with the passwords of the URLs: %s', async (role, option) => {
    const signIn = (password: string) => migrate({ ownerUrl, [option]: as(role, password) });
    await signIn("a % 'secret");
    expect(await whoIs(as(role, "a % 'secret"))).toBe(role);
    expect(await storedPassword(role)).toMatch(/^SCRAM-SHA-256\$4096:/);
    await signIn('gänzlich anders');
    expect(await whoIs(as(role, 'gänzlich anders'))).toBe(role);
    await expect(whoIs(as(role, "a % 'secret"))).rejects.toMatchObject({ code: '28P01' });
  });

  it('roles that can already sign in are left unchanged', async () => {
    const appUrl = as('drover_app', 'steady');
    await migrate({ ownerUrl, appUrl });
    const before = await storedPassword('drover_app');
    await migrate({ ownerUrl, appUrl });
    expect(await storedPassword('drover_app')).toBe(before);
  });

  it('passwords are set even while another session changes the roles', async () => {
    const other = await cluster.admin.connect();
    await other.query('BEGIN; ALTER ROLE drover_app CONNECTION LIMIT 100');
    const migrated = migrate({ ownerUrl, appUrl: as('drover_app', 'meanwhile') });
    await waitFor('the migration to wait for the role', async () => {
      const { rowCount } = await cluster.admin.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'drover-migrate'
          AND wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await other.query('COMMIT');
    other.release();
    await migrated;
    expect(await whoIs(as('drover_app', 'meanwhile'))).toBe('drover_app');
  });

  it('both roles can connect where connecting is not public', async () => {
    const url = await cluster.newDatabase();
    await cluster.admin.query(
      `REVOKE CONNECT ON DATABASE ${new URL(url).pathname.slice(1)} FROM PUBLIC`,
    );
    const appUrl = as('drover_app', 'steady', url);
    await migrate({ ownerUrl: url, appUrl });
    expect(await whoIs(appUrl)).toBe('drover_app');
  });

  it('the URLs must name the two roles', async () => {
    await expect(migrate({ ownerUrl, appUrl: as('somebody', 'x') })).rejects.toThrow(
      'The URL for drover_app signs in as somebody: correct the user in it.',
    );
  });

  it.each(['SUPERUSER', 'BYPASSRLS'])('roles are refused with %s', async (power) => {
    await cluster.admin.query(`ALTER ROLE drover_app ${power}`);
    await expect(migrate({ ownerUrl, appUrl: as('drover_app', 'steady') })).rejects.toThrow(
      /^Row-level security does not bind drover_app, .*: run ALTER ROLE drover_app NOSUPERUSER/,
    );
    await cluster.admin.query(`ALTER ROLE drover_app NO${power}`);
  });
});

describe('an owner who is no superuser and cannot change roles', () => {
  const owner = { name: 'plain_owner', password: 'plain' };
  let plainUrl: string;

  beforeAll(async () => {
    await cluster.admin.query(`CREATE ROLE plain_owner LOGIN PASSWORD 'plain'`);
    await cluster.admin.query(`ALTER ROLE drover_app LOGIN PASSWORD 'given'`);
    plainUrl = await cluster.newDatabase(owner);
  });

  it('an owner who cannot change roles can migrate when the roles can sign in', async () => {
    const appUrl = as('drover_app', 'given', plainUrl);
    expect(await migrate({ ownerUrl: plainUrl, appUrl })).not.toEqual([]);
    expect(await whoIs(appUrl)).toBe('drover_app');
  });

  it('an owner who cannot change roles learns what an administrator must do', async () => {
    const appUrl = as('drover_app', 'another', plainUrl);
    await expect(migrate({ ownerUrl: plainUrl, appUrl })).rejects.toThrow(
      /^The owner of the database cannot set the password of drover_app: ask an administrator to run/,
    );
  });
});
