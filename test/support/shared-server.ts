import { expect } from '@jest/globals';
import { tmpdir } from 'node:os';
import { loadConfig } from '#lib/config';
import { TokenService } from '../../libs/access/identity/tokens/token.service.js';
import { createTestDatabase, type DatabaseUrls, openTestDatabase } from './database.js';
import { expectNothingLeftOpen } from './leaks.js';
import { COMPILE_CACHE } from './processes.js';
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

interface SharedServer extends TestServer {
  pid: number;
  /** Its Valkey, with the prefix of its keys and channels. */
  valkey: { url: string; keyPrefix: string };
  /** @param withinMs the time of open transactions to end */
  stop(withinMs?: number): Promise<void>;
}

/** `api`: the role alone. `all`: a coordinator and a relay work during the tests. */
type Kind = 'api' | 'all';

/**
 * The built server that the test files of this Jest worker share; the first file starts it.
 * Workspaces isolate the files. `stop` only ends this file's use of it.
 *
 * @param worker files with the same name share a server
 */
export async function sharedServer(
  kind: Kind = 'api',
  worker = process.env['JEST_WORKER_ID'],
): Promise<SharedServer> {
  const name = `server-${worker}-${kind}`;
  const facts = (await ask(name)) ?? (await start(name, kind));
  const url = facts.address;
  const db = openTestDatabase(facts);
  const tokens = new TokenService(loadConfig(facts.settings));
  const newWorkspace = (role?: string) => newWorkspaceAt({ url, db, tokens }, role);
  const stop = async (withinMs?: number) => {
    try {
      await expectNothingLeftOpen(db.owner, withinMs);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    } finally {
      await db.close();
    }
  };
  const { VALKEY_URL = '', VALKEY_KEY_PREFIX = '' } = facts.settings;
  const valkey = { url: VALKEY_URL, keyPrefix: VALKEY_KEY_PREFIX };
  return { url, db, tokens, newWorkspace, stop, pid: facts.pid, valkey };
}

async function start(name: string, kind: Kind): Promise<Facts> {
  const db = await createTestDatabase();
  await db.close();
  const settings: Record<string, string> = {
    ...serverSettings(db, testValkey()),
    PORT: '0',
    LOG_LEVEL: 'warn',
    // Longer than in files with their own servers, because a worker keeps its connections.
    HTTP_KEEP_ALIVE_SECONDS: '600',
    // Fleets have their repositories in their folders.
    DROVER_REPOSITORY_PATHS: tmpdir(),
    ...(kind === 'all' ? { VALKEY_VIEWS: 'true' } : { ROLES: 'api' }),
  };
  const { ownerUrl, appUrl, serviceUrl } = db;
  const facts = { ownerUrl, appUrl, serviceUrl, settings };
  const program = { program: 'apps/server/main.js', env: { ...COMPILE_CACHE, ...settings }, facts };
  return (await ask(name, { method: 'PUT', body: JSON.stringify(program) })) as Facts;
}

/** Asks the process that runs Jest about the program; see shared-programs.mjs. */
async function ask(name: string, init?: RequestInit): Promise<Facts | undefined> {
  const file = encodeURIComponent(expect.getState().testPath ?? '');
  const response = await fetch(`${testServers().programsUrl}/${name}?file=${file}`, init);
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Facts;
}
