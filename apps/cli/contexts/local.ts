import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { droverHome, findClone } from '#lib/kernel';
import type { Context } from './contexts.js';

/** The name of the context of the local `drover up`. */
export const LOCAL = 'local';

/** Finds the server of `drover up` in DROVER_HOME, or in `.drover` of the clone or of the user. */
export function findLocal(): Context | undefined {
  return readHome((home) => {
    const [url, apiKey] = [read(home, 'address'), read(home, 'api-key')];
    return url && apiKey ? { url, apiKey } : undefined;
  });
}

/** The path of the server's Unix socket, if `url` is the address of `drover up`. */
export function localSocketOf(url: string): string | undefined {
  return readHome((home) => (read(home, 'address') === url ? read(home, 'socket') : undefined));
}

/** Finds the first administrator, whose password `drover up` stored. */
export function findAdministrator(): { email: string; password: string } | undefined {
  return readHome((home) => {
    const text = read(home, 'administrator.json');
    return text && (JSON.parse(text) as { email: string; password: string });
  });
}

/** Finds Node and the program of the last `drover up`. Either can have been removed since. */
export function findLastProgram(): string[] | undefined {
  return readHome((home) => {
    const text = read(home, 'processes.json');
    return text && (JSON.parse(text) as { command?: string[] }).command;
  });
}

/** Tells whether a `drover up` has ever recorded its processes. */
export function wasStarted(): boolean {
  return readHome((home) => read(home, 'processes.json')) !== undefined;
}

/** The command that starts the local server. */
export function startCommand(): string {
  return findClone() === undefined ? 'drover up' : 'npm start';
}

/** Reads from the data folder of `drover up`. */
function readHome<T>(load: (home: string) => T | undefined | ''): T | undefined {
  return load(droverHome()) || undefined;
}

function read(home: string, name: string): string | undefined {
  try {
    return readFileSync(join(home, name), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
