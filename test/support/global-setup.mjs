// One PostgreSQL and one Valkey for the whole run, and a migrated database that each test file
// copies. Jest calls this once for each project; the first call does the work.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharePrograms } from './shared-programs.mjs';

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
    ephemeral: true,
    postgres: { fsync: false, settings: { max_connections: '400' } },
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
