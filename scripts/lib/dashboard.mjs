// Builds the dashboard into dist/dashboard when its sources changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { listFiles, root } from './sources.mjs';

const SOURCES = ['apps/dashboard', 'libs/clients/api-client'];
const OUT = join(root, 'dist', 'dashboard');
const MADE_OF = join(OUT, '.made-of');
/** Maximum size of the first page, gzipped, in bytes. */
const LARGEST_FIRST_PAGE = 300_000;
const COMPRESSED = /\.(js|css|svg)$/;

/**
 * @throws if the build fails, or its first page is too large
 */
export async function buildDashboard() {
  if (!existsSync(join(root, SOURCES[0]))) return;
  const key = hashOfSources();
  if (existsSync(MADE_OF) && readFileSync(MADE_OF, 'utf8') === key) return;
  const { build } = await import('vite');
  const configFile = join(root, SOURCES[0], 'vite.config.mjs');
  await build({ configFile, logLevel: 'warn', mode: 'production' });
  compressAssets();
  const bytes = firstPageBytes();
  process.stdout.write(`dashboard: ${Math.ceil(bytes / 1000)} kB compressed for its first page\n`);
  if (bytes > LARGEST_FIRST_PAGE)
    throw new Error(
      `The first page of the dashboard takes ${bytes} bytes compressed, and ${LARGEST_FIRST_PAGE} are allowed: load parts of it later.`,
    );
  writeFileSync(MADE_OF, key);
}

function hashOfSources() {
  const hash = createHash('sha256');
  const paths = ['package-lock.json', 'scripts/lib/dashboard.mjs', ...SOURCES.flatMap(listFiles)];
  for (const path of paths.filter((path) => !/spec\.ts$|\.md$/.test(path)))
    hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** The server sends the compressed files to browsers that accept them. */
function compressAssets() {
  const folder = join(OUT, 'assets');
  for (const name of readdirSync(folder).filter((name) => COMPRESSED.test(name))) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
  }
}

/** index.html loads its files before anything is shown. Other chunks load with their page. */
function firstPageBytes() {
  const index = readFileSync(join(OUT, 'index.html'));
  const named = [...index.toString().matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)];
  return named.reduce(
    (sum, [, path]) => sum + readFileSync(join(OUT, `${path}.gz`)).length,
    gzipSync(index).length,
  );
}
