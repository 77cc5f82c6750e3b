import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findClone } from '../project.js';
import type { Context } from './contexts.js';

/** The name of the context of what `drover up` started here. */
export const LOCAL = 'local';

/** What `drover up` left in DROVER_HOME, or in `.drover` of the clone that this program is of. */
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

/**
 * Looks where `drover up` keeps its data. Not in whatever folder a command is given in: a foreign checkout may bring an
 * address of its own.
 */
function first<T>(look: (home: string) => T | undefined | ''): T | undefined {
  const given = process.env['DROVER_HOME'];
  const clone = findClone();
  const home = given ? resolve(given) : clone && join(clone, '.drover');
  return (home && look(home)) || undefined;
}

function read(home: string, name: string): string | undefined {
  try {
    return readFileSync(join(home, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
