// Bundles the packages of the product for Jest, which loads each module of each test file anew: a
// server has 2,500 modules of packages, and here 100.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './programs.mjs';
import { hashOf, listFiles, root } from './sources.mjs';

const OUT = join(root, 'dist', 'test-packages');
/** The names of the bundled modules, and what they were made of. */
const MADE_OF = join(OUT, '.made-of.json');
/** A native module loads its binary from beside itself. */
const NATIVE = ['@node-rs/argon2'];

export async function buildTestPackages() {
  const imported = importedModules();
  if (imported.length === 0) return;
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = Object.keys(dependencies).filter((name) => !NATIVE.includes(name));
  const modules = imported.filter((name) => packages.includes(packageOf(name)));
  const key = hashOf('package-lock.json', 'scripts/lib/test-packages.mjs') + modules.join();
  if (readMade().key === key) return;
  rmSync(OUT, { recursive: true, force: true });
  const inputs = Object.fromEntries(modules.map((name) => [name, `${ENTRY}${name}`]));
  await bundle(inputs, OUT, { sourcemap: false, strictExecutionOrder: true, plugins: [entries] });
  writeFileSync(MADE_OF, JSON.stringify({ key, modules }));
}

/** Returns the bundled file of each module by its name; empty before the first build. */
export function testPackages() {
  return Object.fromEntries(readMade().modules.map((name) => [name, join(OUT, `${name}.js`)]));
}

function readMade() {
  return existsSync(MADE_OF) ? JSON.parse(readFileSync(MADE_OF, 'utf8')) : { modules: [] };
}

/** Returns the names with which compiled files import other packages. */
function importedModules() {
  const compiled = ['dist/apps', 'dist/libs'].flatMap(listFiles).filter((p) => p.endsWith('.js'));
  const names = compiled.flatMap((path) => {
    const imports = readFileSync(join(root, path), 'utf8').matchAll(IMPORT);
    return [...imports].map(([, name]) => name);
  });
  return [...new Set(names)].sort();
}

const IMPORT = /(?:\bfrom |\bimport |\bimport\()"([^"]+)"/g;

function packageOf(module) {
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/');
}

const ENTRY = '\0module:';

/** A bundle names only the exports that its entry names; those of CommonJS are known when loaded. */
const entries = {
  name: 'entries',
  resolveId: (id) => (id.startsWith(ENTRY) ? id : undefined),
  async load(id) {
    if (!id.startsWith(ENTRY)) return undefined;
    const name = JSON.stringify(id.slice(ENTRY.length));
    const exported = Object.keys(await import(id.slice(ENTRY.length)));
    const names = exported.filter((one) => /^[\w$]+$/.test(one));
    return names.length === 0 ? `import ${name};` : `export { ${names.join(', ')} } from ${name};`;
  },
};
