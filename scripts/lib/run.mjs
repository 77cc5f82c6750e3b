import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureReady } from '../ensure.mjs';
import { endWithParent } from './end-with-parent.mjs';
import { root } from './sources.mjs';

/**
 * Makes the clone ready, then becomes the built program: the same process, so that signals, the
 * terminal and the exit code are the program's own.
 *
 * @param asItIs whether a built program runs without a check of its sources
 */
export async function runBuilt(path, { asItIs = false } = {}) {
  endWithParent();
  const main = join(root, 'dist', path);
  if (!asItIs || !existsSync(main)) await ensureReady();
  if (!existsSync(main)) {
    process.stderr.write(
      `The build made no dist/${path}: run \`npm run build\` and read what it says.\n`,
    );
    process.exit(1);
  }
  process.argv[1] = main;
  await import(pathToFileURL(main).href);
}
