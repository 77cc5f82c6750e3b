import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '#lib/config';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { serverSettings } from '../../test/support/settings.js';
import { testValkey } from '../../test/support/valkey.js';
import { requireOwnFolder } from './own-folder.js';

let db: TestDatabase;
let other: TestDatabase;
let folder: string;

beforeAll(async () => {
  [db, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  // The databases of tests are copies of one.
  await other.owner.query('UPDATE _prisma_migrations SET id = gen_random_uuid()::text');
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-own-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
afterAll(async () => {
  await Promise.all([db.drop(), other.drop()]);
});

const start = (at: TestDatabase, path = join(folder, 'artifacts')) =>
  requireOwnFolder(loadConfig({ ...serverSettings(at, testValkey()), ARTIFACTS_DIR: path }));

it('the servers of an installation share a folder, and another installation is refused', async () => {
  await Promise.all([start(db), start(db)]);
  await start(db);
  const owner = readFileSync(join(folder, 'artifacts/installation'), 'utf8').trim();
  await expect(start(other)).rejects.toThrow(
    `${folder}/artifacts belong to another installation (${owner})`,
  );
  await start(other, join(folder, 'others'));
  await expect(start(db, join(folder, 'others'))).rejects.toThrow('set ARTIFACTS_DIR to a folder');
  rmSync(join(folder, 'artifacts/installation'));
  await start(other);
});

it('a folder with files and without an owner is taken, also after a server was killed', async () => {
  mkdirSync(join(folder, 'artifacts/00/00'), { recursive: true });
  writeFileSync(join(folder, 'artifacts/installation'), '');
  await start(db);
  await expect(start(other)).rejects.toThrow('belong to another installation');
});

it('a folder that cannot be used is named', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(start(db, join(folder, 'file/artifacts'))).rejects.toThrow(
    `cannot use the folder ${folder}/file/artifacts (EEXIST): correct ARTIFACTS_DIR`,
  );
  await expect(start(db, '/proc/artifacts')).rejects.toThrow(
    'cannot use the folder /proc/artifacts',
  );
});

it('an installation without artifacts starts without a folder', async () => {
  const settings: Record<string, string> = serverSettings(db, testValkey());
  delete settings['ARTIFACTS_DIR'];
  await expect(requireOwnFolder(loadConfig(settings))).resolves.toBeUndefined();
});
