import { expect } from '@jest/globals';
import { loadConfig } from '#lib/config';
import { TokenService } from '../../libs/access/identity/tokens/token.service.js';
import { createTestDatabase, type DatabaseUrls, openTestDatabase } from './database.js';
import { expectNothingLeftOpen } from './leaks.js';
import { newWorkspaceAt, type TestServer } from './server.js';
import { testServers } from './servers.js';
import { serverSettings } from './settings.js';
import { testValkey } from './valkey.js';

export type { TestAgent, TestServer, TestWorkspace } from './server.js';

interface Facts extends DatabaseUrls {
  address: string;
  pid: number;
  settings: Record<string, string>;
}

/**
 * The built server that the test files of this Jest worker share; the first of them starts it. It
 * has the role `api` alone, or with `all` a coordinator and a relay that are at work beside the
 * tests. Workspaces keep the files apart. `stop` only ends this file's use of it.
 *
 * @param worker files that name the same one share a server
 */
export async function sharedServer(
  roles: 'api' | 'all' = 'api',
  worker = process.env['JEST_WORKER_ID'],
): Promise<TestServer & { pid: number }> {
  const name = `server-${worker}-${roles}`;
  const facts = (await ask(name)) ?? (await start(name, roles));
  const url = facts.address;
  const db = openTestDatabase(facts);
  const tokens = new TokenService(loadConfig(facts.settings));
  const newWorkspace = (role?: string) => newWorkspaceAt({ url, db, tokens }, role);
  const stop = async () => {
    try {
      await expectNothingLeftOpen(db.owner);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    } finally {
      await db.close();
    }
  };
  return { url, db, tokens, newWorkspace, stop, pid: facts.pid };
}

async function start(name: string, roles: 'api' | 'all'): Promise<Facts> {
  const db = await createTestDatabase();
  await db.close();
  const settings: Record<string, string> = {
    ...serverSettings(db, testValkey()),
    PORT: '0',
    LOG_LEVEL: 'warn',
    // Longer than files that have servers of their own take: a worker keeps its connections.
    HTTP_KEEP_ALIVE_SECONDS: '600',
    ...(roles === 'api' ? { ROLES: roles } : {}),
  };
  const { ownerUrl, appUrl, serviceUrl } = db;
  const facts = { ownerUrl, appUrl, serviceUrl, settings };
  const program = { program: 'apps/server/main.js', env: settings, facts };
  return (await ask(name, { method: 'PUT', body: JSON.stringify(program) })) as Facts;
}

/** What the process that runs Jest knows of the program; see shared-programs.mjs. */
async function ask(name: string, init?: RequestInit): Promise<Facts | undefined> {
  const file = encodeURIComponent(expect.getState().testPath ?? '');
  const response = await fetch(`${testServers().programsUrl}/${name}?file=${file}`, init);
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Facts;
}
