import { readFileSync } from 'node:fs';

interface Manifest {
  name: string;
  version: string;
}

/** The version of the project that this file belongs to, independent of the output folder. */
export function readVersion(): string {
  const here = new URL('.', import.meta.url);
  for (let dir = here; dir.pathname !== '/'; dir = new URL('..', dir)) {
    const manifest = readManifest(new URL('package.json', dir));
    if (manifest?.name === 'drover') return manifest.version;
  }
  return '0.0.0';
}

function readManifest(file: URL): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}
