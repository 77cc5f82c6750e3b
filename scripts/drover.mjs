#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './lib/sources.mjs';

// Starts the command line as built, because checking all sources would take longer than most
// commands.
const main = join(root, 'dist', 'apps', 'cli', 'main.js');
if (!existsSync(main)) {
  const { ensureReady } = await import('./ensure.mjs');
  await ensureReady({ forClient: true });
}
await import(pathToFileURL(main).href);
