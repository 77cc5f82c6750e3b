import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Roles are shared by all databases of a server, so two migrations may meet on one's row. */
const CONCURRENT_UPDATE = 'XX000';
const MAX_ATTEMPTS = 20;

/** Lets the role that a URL signs in as do so, with the password that is in the URL. */
export async function allowSignIn(
  client: pg.Client,
  url: string,
  expectedRole: string,
): Promise<void> {
  const { username, password, pathname } = new URL(url);
  const role = decodeURIComponent(username);
  if (role !== expectedRole) {
    throw new Error(`The URL must sign in as ${expectedRole}, and not as ${role || 'nobody'}.`);
  }
  const database = pg.escapeIdentifier(decodeURIComponent(pathname.slice(1)));
  const secret = pg.escapeLiteral(decodeURIComponent(password));
  await patiently(async () => {
    await client.query(`ALTER ROLE ${pg.escapeIdentifier(role)} LOGIN PASSWORD ${secret}`);
    await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${pg.escapeIdentifier(role)}`);
  });
}

async function patiently(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const met = (error as { code?: string }).code === CONCURRENT_UPDATE;
      if (!met || attempt === MAX_ATTEMPTS) throw error;
      await delay(20 * Math.random() * attempt);
    }
  }
}
