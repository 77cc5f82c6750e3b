// Generates all generated files, or the named parts: sql, settings, events, seeds, openapi,
// client.
import { spawnSync } from 'node:child_process';
import { ensureReady } from './ensure.mjs';
import { buildClientPackage } from './lib/client-package.mjs';
import { generateClientTypes } from './lib/client-types.mjs';
import { root } from './lib/sources.mjs';

const named = process.argv.slice(2);
const committed = named.filter((part) => part !== 'client');

await ensureReady();
if (named.length === 0 || committed.length > 0) {
  const program = ['dist/tools/generate/main.js', ...committed];
  const { status } = spawnSync(process.execPath, program, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
await generateClientTypes();
if (named.length === 0 || named.includes('client')) buildClientPackage();
