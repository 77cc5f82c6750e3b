import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { EmbeddedError } from '../machine/errors.js';
import {
  type Fetching,
  fetchPackage,
  installCommand,
  type Wanted,
} from '../machine/package-fetch.js';
import { probe, SERVER_NAMES, type ValkeyProgram } from './valkey-program.js';

const INSTALL_COMMANDS: Record<string, string> = {
  darwin: 'brew install valkey',
  alpine: 'apk add valkey',
  arch: 'pacman -S valkey',
  fedora: 'dnf install valkey',
  suse: 'zypper install valkey',
  debian: 'apt-get update && apt-get install redis-server',
  ubuntu: 'apt-get update && apt-get install redis-server',
};

const VALKEY: Wanted<ValkeyProgram> = {
  name: 'valkey',
  title: 'a Valkey server',
  packages: SERVER_NAMES,
  // In some versions the program is in the package of the tools.
  needs: (needed, by) => /^(lib|lua)/.test(needed) || needed === by.replace('-server', '-tools'),
  probe: (bin, env) => firstOf(SERVER_NAMES.map((name) => () => probe(join(bin, name), env))),
  missing: (family, cause) =>
    new EmbeddedError(
      'valkey_missing',
      `There is no Valkey or Redis server (6.2 or later) here and none could be fetched: run \`${installCommand(family, INSTALL_COMMANDS)}\`, or set VALKEY_URL to a server of your own.`,
      { cause },
    ),
};

/**
 * A server on the PATH, otherwise the distribution's package, downloaded once. @throws
 * EmbeddedError
 */
export async function findValkey(fetching: Fetching): Promise<ValkeyProgram> {
  const files = SERVER_NAMES.flatMap((name) => onPath(name));
  const found = await firstOf(files.map((file) => () => probe(file, {})));
  return found ?? fetchPackage(VALKEY, fetching);
}

/** The files of this name in the folders of the PATH. */
export function onPath(name: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).filter((file) => existsSync(file));
}

/** The first that exists, tried one after the other. */
export async function firstOf<T>(
  candidates: (() => Promise<T | undefined>)[],
): Promise<T | undefined> {
  for (const candidate of candidates) {
    const found = await candidate();
    if (found) return found;
  }
  return undefined;
}
