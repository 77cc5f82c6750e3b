import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { withClient } from './connection.js';
import { MigrationError } from './errors.js';
import { passwordVerifier } from './scram.js';

/** Roles are shared by all databases of a server, so two migrations may meet on one's row. */
const CONCURRENT_UPDATE = 'XX000';
const INSUFFICIENT_PRIVILEGE = '42501';
const MAX_ATTEMPTS = 20;

/**
 * Lets the role that a URL signs in as do so, with the password that is in the URL. Leaves a role
 * alone that already can, so a restart changes nothing and needs no right to change roles.
 *
 * @throws MigrationError
 */
export async function allowSignIn(client: pg.Client, url: string, role: string): Promise<void> {
  const { user } = readUrl(url);
  if (user !== role) {
    throw new MigrationError(`The URL for ${role} signs in as ${user}: correct the user in it.`);
  }
  await refuseUnbound(client, role);
  if (await canSignIn(url)) return;
  await patiently(() => openRole(client, url, role));
}

/** The parts of a URL as the driver reads them, which takes more than the standard allows. */
function readUrl(url: string): { user: string; password: string; database: string } {
  const { user = '', password, database = '' } = new pg.Client({ connectionString: url });
  return { user, password: password ?? '', database };
}

/** A superuser, or a role that bypasses row-level security, would see all tenants. */
async function refuseUnbound(client: pg.Client, role: string): Promise<void> {
  const { rows } = await client.query(
    'SELECT FROM pg_roles WHERE rolname = $1 AND (rolsuper OR rolbypassrls)',
    [role],
  );
  if (rows.length === 0) return;
  throw new MigrationError(
    `Row-level security does not bind ${role}, so tenants would see each other: run ALTER ROLE ` +
      `${role} NOSUPERUSER NOBYPASSRLS.`,
  );
}

function canSignIn(url: string): Promise<boolean> {
  return withClient(url, () => Promise.resolve(true)).catch(() => false);
}

async function openRole(client: pg.Client, url: string, role: string): Promise<void> {
  const { password, database } = readUrl(url);
  const secret = pg.escapeLiteral(passwordVerifier(password));
  await client.query(`ALTER ROLE ${role} LOGIN PASSWORD ${secret}`).catch((error: unknown) => {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new MigrationError(
      `The owner of the database cannot set the password of ${role}: ask an administrator to run ` +
        `ALTER ROLE ${role} LOGIN PASSWORD '…' with the password in its URL.`,
      { cause: error },
    );
  });
  await client.query(`GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(database)} TO ${role}`);
}

async function patiently(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== CONCURRENT_UPDATE || attempt === MAX_ATTEMPTS) throw error;
      await delay(20 * Math.random() * attempt);
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | null)?.code;
}
