import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.mjs';

/**
 * Builds dist/client-package, which is @drover/client: `npm pack ./dist/client-package` packs it.
 */
export function buildClientPackage() {
  const into = join(root, 'dist', 'client-package');
  const library = join(root, 'libs', 'clients', 'api-client');
  rmSync(into, { recursive: true, force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [compiler, '--project', join(library, 'tsconfig.package.json')];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  copyFileSync(join(library, 'README.md'), join(into, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(into, 'LICENSE'));
}

function manifest() {
  const { version, license, engines, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return {
    name: '@drover/client',
    version,
    description: 'The typed client of Drover, for Node and browsers',
    license,
    type: 'module',
    sideEffects: false,
    engines,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    dependencies: { 'openapi-fetch': dependencies['openapi-fetch'] },
  };
}
