import type { TestDatabase } from '../../support/database.js';
import { PostgresProxy } from '../../support/proxy/postgres-proxy.js';
import type { PrivatePostgres } from './private-postgres.js';

/** The silence after which the agents of these tests count as dead. */
export const STALE_SECONDS = 4;
/** Longer than an agent can be silent: a server that receives no heartbeats must not judge. */
export const OUTAGE_MS = (STALE_SECONDS + 2) * 1_000;

/** A new database on a Postgres that tests stop, and a server's proxies to it. */
export interface BreakableDatabase {
  db: TestDatabase;
  /** The proxy of the API. */
  app: PostgresProxy;
  /** The proxy of the coordinator. */
  service: PostgresProxy;
  urls: Record<string, string>;
  mend(): void;
  close(): Promise<void>;
}

export async function aBreakableDatabase(postgres: PrivatePostgres): Promise<BreakableDatabase> {
  const db = await postgres.newDatabase();
  const ways = [db.appUrl, db.serviceUrl].map((url) => PostgresProxy.to(url));
  const [app, service] = (await Promise.all(ways)) as [PostgresProxy, PostgresProxy];
  const mend = () => {
    for (const proxy of [app, service]) proxy.mend();
  };
  const close = async () => {
    await Promise.all([app.close(), service.close()]);
  };
  const urls = { DATABASE_URL: app.url, DATABASE_SERVICE_URL: service.url };
  return { db, app, service, urls, mend, close };
}
