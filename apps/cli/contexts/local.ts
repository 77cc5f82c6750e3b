import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Context } from './contexts.js';

/** The name of the context of what `drover up` started here. */
export const LOCAL = 'local';

/** What `drover up` left in DROVER_HOME, or in `.drover` of this folder or one above it. */
export function findLocal(): Context | undefined {
  return first((home) => {
    const [url, apiKey] = [read(home, 'address'), read(home, 'api-key')];
    return url && apiKey ? { url, apiKey } : undefined;
  });
}

/** The first administrator, whose password `drover up` wrote down. */
export function findAdministrator(): { email: string; password: string } | undefined {
  return first((home) => {
    const text = read(home, 'administrator.json');
    return text && (JSON.parse(text) as { email: string; password: string });
  });
}

function first<T>(look: (home: string) => T | undefined | ''): T | undefined {
  const home = process.env['DROVER_HOME'];
  if (home) return look(resolve(home)) || undefined;
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const found = look(join(folder, '.drover'));
    if (found || folder === dirname(folder)) return found || undefined;
  }
}

function read(home: string, name: string): string | undefined {
  try {
    return readFileSync(join(home, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
