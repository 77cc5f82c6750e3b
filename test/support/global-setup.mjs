// One PostgreSQL and one Valkey for the whole run, and a migrated database that each test file
// copies. Jest calls this once for each project; the first call does the work.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharePrograms } from './shared-programs.mjs';

const SETTINGS = {
  max_connections: 400,
  // Tests analyse the tables that they fill, and each visit to one of many databases is a process.
  autovacuum_naptime: '60s',
  // Otherwise each connection plans a statement anew five times: a sixth of PostgreSQL's CPU.
  plan_cache_mode: 'force_generic_plan',
};

export default async function setUp() {
  if (process.env.DROVER_TEST_SERVERS) return;
  const built = new URL('../../dist/libs/dev/local-servers/index.js', import.meta.url);
  if (!existsSync(built))
    throw new Error('Nothing is built yet: run `npm run build`, then the tests.');
  const { startStack, Supervisor } = await import(built.href);
  const { migrate } = await import(
    new URL('../../dist/libs/platform/database/migrator/index.js', import.meta.url).href
  );

  const stack = await startStack({
    // PostgreSQL's own account enters a folder that the stack makes.
    dataDir: join(tmpdir(), `drover-${randomBytes(6).toString('hex')}`),
    ephemeral: true,
    postgres: { settings: SETTINGS },
    valkey: { url: '' },
  });
  const programs = await Supervisor.start();
  programs.unref();
  const artifactsFolder = await mkdtemp(join(tmpdir(), 'drover-test-artifacts-'));
  const removeArtifacts = () => rm(artifactsFolder, { recursive: true, force: true });
  globalThis.__DROVER_TEST_SERVERS__ = [programs.close.bind(programs), stack.stop, removeArtifacts];
  const ownerUrl = stack.postgres.url;
  const appUrl = withUser(ownerUrl, 'drover_app');
  const serviceUrl = withUser(ownerUrl, 'drover_service');
  await migrate({ ownerUrl, appUrl, serviceUrl });
  process.env.DROVER_TEST_SERVERS = JSON.stringify({
    ownerUrl,
    appUrl,
    serviceUrl,
    valkeyUrl: stack.valkey.url,
    programsUrl: await sharePrograms(programs),
    artifactsFolder,
  });
}

function withUser(ownerUrl, user) {
  const url = new URL(ownerUrl);
  url.username = user;
  url.password = randomBytes(12).toString('hex');
  return url.href;
}
