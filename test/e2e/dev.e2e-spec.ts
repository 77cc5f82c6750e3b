import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '#lib/local-servers';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

/** Tests `npm run dev` in its own clone: it builds changed files. */

const RUNS = /Drover runs at +(\S+)\s[^]*the data stays/;
const CLONED = [
  'apps',
  'dist',
  'libs',
  'prisma',
  'scripts',
  'test',
  'tools',
  '.swcrc',
  'nest-cli.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

let clone: string;
let home: string;
let dev: Program | undefined;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'drover-dev-'));
  chmodSync(clone, 0o755);
  for (const path of CLONED) {
    // The build compares the time of a file's last change.
    cpSync(path, join(clone, path), { recursive: true, preserveTimestamps: true });
  }
  // The packages, and the servers that the start of the tests has fetched.
  for (const path of ['node_modules', '.cache']) symlinkSync(resolve(path), join(clone, path));
  home = join(clone, '.drover');
});

afterAll(async () => {
  dev?.kill('SIGKILL');
  await dev?.ended;
  await waitFor('the last process', () => processesWith(clone).length === 0);
  rmSync(clone, { recursive: true, force: true });
});

/** Replaces the file, as editors do. */
function change(path: string, from: string, to: string): void {
  const source = join(clone, path);
  writeFileSync(`${source}~`, readFileSync(source, 'utf8').replace(from, to));
  renameSync(`${source}~`, source);
}

test('npm run dev builds a changed source, starts the server again, and leaves nothing', async () => {
  const env = { DROVER_HOME: home, TMPDIR: clone, PORT: String(await freePort()) };
  dev = new Program(join(clone, 'scripts', 'dev.mjs'), [], env, clone);
  const [, address = ''] = await dev.says(RUNS);
  const page = async () => (await fetch(address).catch(() => undefined))?.text();
  expect(await page()).toContain('<h1>Drover</h1>');

  change('apps/server/front-page.ts', '<h1>Drover</h1>', '<h1>Drover`;');
  await dev.complains(/front-page\.ts/);
  expect(await page()).toContain('<h1>Drover</h1>');

  change('apps/server/front-page.ts', '<h1>Drover`;', '<h1>Changed</h1>');
  await dev.says(/built in \d+ ms/);
  await waitFor('the server that was built', async () => (await page())?.includes('Changed'));

  dev.kill('SIGTERM');
  await dev.ended;
  expect(processesWith(clone)).toEqual([]);
});
