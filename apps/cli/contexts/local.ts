import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Context } from './contexts.js';

/** The name of the context of what `drover up` started here. */
export const LOCAL = 'local';

/** What `drover up` left in DROVER_HOME, or in `.drover` of this folder or one above it. */
export function findLocal(env: NodeJS.ProcessEnv = process.env): Context | undefined {
  const home = env['DROVER_HOME'];
  if (home) return readHome(resolve(home));
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const found = readHome(join(folder, '.drover'));
    if (found || folder === dirname(folder)) return found;
  }
}

function readHome(home: string): Context | undefined {
  const [url, apiKey] = [read(home, 'address'), read(home, 'api-key')];
  return url && apiKey ? { url, apiKey } : undefined;
}

function read(home: string, name: string): string | undefined {
  try {
    return readFileSync(join(home, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
