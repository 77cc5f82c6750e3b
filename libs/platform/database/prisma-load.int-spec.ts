import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';

/** A process of its own may open few files; it has the built library, and no database. */
const SCRIPT = `
  import { closeSync, openSync } from 'node:fs';
  import { PrismaTenants } from './dist/libs/platform/database/client/prisma.js';
  import { Refusals } from './dist/libs/platform/database/errors/refusals.js';
  const nowhere = { options: { connectionString: 'postgres://nowhere.invalid' }, connect: () => Promise.reject(new Error('reached')) };
  const prisma = new PrismaTenants(nowhere, nowhere, new Refusals());
  const outcome = () => prisma.asService((tx) => tx.$queryRaw\`SELECT 1\`).then(() => 'answered', (error) => error.code ?? error.message);
  const held = [];
  try { for (;;) held.push(openSync('/dev/null')); } catch {}
  for (const fd of held.splice(0, Number(process.argv[1]))) closeSync(fd);
  const first = await outcome();
  for (const fd of held) closeSync(fd);
  console.log(JSON.stringify([first, await outcome()]));
`;

it.each([0, 3])('Prisma loads once files can be opened again, after only %d could be', (spare) => {
  const node = `ulimit -n 256; exec "$0" --input-type=module -e "$1" "$2"`;
  const args = ['-c', node, process.execPath, SCRIPT, String(spare)];
  // Node opens the file of this variable late, and prints a warning if it cannot.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: undefined };
  const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8', env, timeout: 50_000 });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(['EMFILE', 'database_unavailable']);
});
