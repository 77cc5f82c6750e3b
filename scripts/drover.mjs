#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/sources.mjs';

// Starts the command line as built, because checking all sources would take longer than most
// commands. A rebuild by `npm run dev` removes the bundle.
const builtMain = () =>
  ['dist/command-line/main.js', 'dist/apps/cli/main.js']
    .map((path) => join(root, path))
    .find((path) => existsSync(path));
if (!builtMain()) {
  const { ensureReady } = await import('./ensure.mjs');
  await ensureReady({ forClient: true });
}
await import(pathToFileURL(builtMain()).href);
