import { expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const BUILT = pathToFileURL('dist/libs/platform/kernel/system/end-now.js').href;

/** Runs a program that ends itself. @returns its exit code, or the signal that ended it */
async function run(program: string): Promise<unknown> {
  const words = ['--input-type=module', '-e', `import { endNow } from '${BUILT}'; ${program}`];
  const child = spawn(process.execPath, words, {
    stdio: 'inherit',
    timeout: 30_000,
    killSignal: 'SIGABRT',
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return code ?? signal;
}

it('a program ends with its code', async () => {
  expect(await run('endNow(7);')).toBe(7);
});

it('a program ends although an open file never answers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drover-end-'));
  const pipe = join(folder, 'without-a-writer');
  execFileSync('mkfifo', [pipe]);
  const program = `
    import { open } from 'node:fs';
    open('${pipe}', () => {});
    setTimeout(() => endNow(7), 100);`;
  expect(await run(program)).toBe('SIGKILL');
  await rm(folder, { recursive: true });
});
