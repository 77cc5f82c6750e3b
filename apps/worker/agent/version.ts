import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of the project that this file belongs to, wherever it was compiled to. */
export function workerVersion(): string {
  for (
    let dir = dirname(fileURLToPath(import.meta.url));
    dir !== dirname(dir);
    dir = dirname(dir)
  ) {
    const manifest = readManifest(join(dir, 'package.json'));
    if (manifest?.name === 'drover') return manifest.version;
  }
  return 'unknown';
}

function readManifest(path: string): { name: string; version: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { name: string; version: string };
  } catch {
    return undefined;
  }
}
