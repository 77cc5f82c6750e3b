import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, sep } from 'node:path';
import type { Sandbox, SandboxPlaces } from './sandbox.js';

/** The folders where people and other programs keep their files. */
const PRIVATE = ['/home', '/root', '/run', '/mnt', '/media'].concat(
  ['lib', 'log', 'snap', 'spool'].map((name) => `/var/${name}`),
);
/** Files that root can read without any privilege, since it owns them. */
const SECRET_FILES = ['shadow', 'gshadow', 'shadow-', 'gshadow-', 'sudoers'];
const SECRET_FOLDERS = ['/etc/ssh', '/etc/ssl/private', '/etc/sudoers.d'];
const TEMPORARY = ['/tmp', '/var/tmp'];
/** Each session has folders of its own there. */
const OF_SESSION = [...TEMPORARY, '/dev/shm'];

/**
 * The mounts of a session's sandbox, as options of bubblewrap. Later mounts cover earlier ones.
 */
export function mounts({ hidden: named, shown }: Sandbox, places: SandboxPlaces): string[] {
  const hidden = [
    ...new Set(named.flatMap((path) => [path, look(() => realpathSync(path)) ?? path])),
  ];
  const { dir, root, launch, tmp, shared, searchPath, seenAt } = places;
  const worksIn = shared === undefined ? [] : [shared];
  const closed = places.user === undefined ? [] : [root, ...worksIn].flatMap(closedAbove);
  // A user without an entry has no home.
  const home = look(homedir);
  const homes = outermost([...PRIVATE, ...SECRET_FOLDERS, ...(home ? [home] : []), ...closed]);
  const secret = outermost([...hidden, dir].filter((path) => !isWithin(path, homes)));
  const isCovered = (path: string): boolean => isWithin(path, [...homes, ...OF_SESSION]);
  const visible = [...new Set([...shown, ...programs(searchPath)])]
    .filter(isCovered)
    .filter((path) => look(() => statSync(path)) !== undefined);
  const files = SECRET_FILES.map((name) => `/etc/${name}`).filter((path) => existsSync(path));
  return [
    ...homes.flatMap((path) => ['--tmpfs', path]),
    ...files.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...TEMPORARY.filter(isFolder).flatMap((path) => ['--bind', tmp, path]),
    ...[...visible, ...worksIn, ...nameServers()].filter(isCovered).flatMap(wayTo),
    ...nameServers().flatMap((path) => ['--ro-bind-try', path, path]),
    ...visible.flatMap((path) => ['--ro-bind-try', path, path]),
    ...worksIn.flatMap((path) => ['--bind', path, path]),
    // A shown folder or a working folder can contain one of these.
    ...hiddenWithin(secret, hidden, [...visible, ...worksIn]).flatMap((path) => ['--tmpfs', path]),
    ...filesWithin(hidden, homes, [...visible, ...worksIn]).flatMap((path) => [
      '--ro-bind',
      '/dev/null',
      path,
    ]),
    // A hidden folder can contain this one.
    ...wayTo(seenAt ?? root),
    '--bind',
    root,
    seenAt ?? root,
    '--tmpfs',
    launch,
    // After all that is hidden: the host lends these although nobody else can see them.
    ...(places.borrowed ?? []).flatMap(({ from, to }) => [...wayTo(to), '--ro-bind', from, to]),
  ];
}

function hiddenWithin(secret: string[], hidden: readonly string[], seen: string[]): string[] {
  const uncovered = hidden.filter((path) => isFolder(path) && isWithin(path, seen));
  return outermost([...secret, ...uncovered]).filter(
    (path) => !isWithin(path, OF_SESSION) || isWithin(path, seen),
  );
}

/** A hidden file needs no cover. */
function filesWithin(hidden: readonly string[], homes: string[], seen: string[]): string[] {
  const isOpen = (path: string) =>
    isWithin(path, seen) || !isWithin(path, [...homes, ...OF_SESSION]);
  return hidden.filter((path) => isFile(path) && isOpen(path));
}

/** The folders of programs, with their libraries, which version managers put beside them. */
function programs(searchPath: string): string[] {
  const folders = searchPath.split(delimiter).filter((path) => path.startsWith('/'));
  return [...folders, dirname(process.execPath)].flatMap((path) =>
    basename(path) === 'bin' ? [path, join(dirname(path), 'lib')] : [path],
  );
}

/** On many systems the list of name servers is a link into `/run`. */
function nameServers(): string[] {
  const file = look(() => realpathSync('/etc/resolv.conf'));
  return file?.startsWith('/run/') ? [file] : [];
}

/** Without this, only their creator could open the parent folders of a mount. */
function wayTo(path: string): string[] {
  const above = dirname(path);
  return above === sep ? [] : [...wayTo(above), '--perms', '0755', '--dir', above];
}

/** The parent folders that only their owner can enter. Empty folders replace them. */
function closedAbove(path: string): string[] {
  const above = dirname(path);
  if (above === sep) return [];
  const isOpen = ((look(() => statSync(above))?.mode ?? 1) & 1) !== 0;
  return [...closedAbove(above), ...(isOpen ? [] : [above])];
}

/** @returns undefined if the path does not exist, or if this process cannot read it */
export function look<T>(at: () => T): T | undefined {
  try {
    return at();
  } catch {
    return undefined;
  }
}

function outermost(paths: readonly string[]): string[] {
  const folders = [...new Set(paths)].filter((path) => path !== sep && isFolder(path));
  return folders.filter(
    (path) =>
      !isWithin(
        path,
        folders.filter((other) => other !== path),
      ),
  );
}

export function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder + sep));
}

export function isFile(path: string): boolean {
  return look(() => lstatSync(path))?.isFile() === true;
}

/** A link does not count: its target is hidden by its own, resolved name. */
export function isFolder(path: string): boolean {
  return look(() => lstatSync(path))?.isDirectory() === true;
}
