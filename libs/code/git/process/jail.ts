import { dirname } from 'node:path';

/** Bubblewrap and its environment. */
export interface JailProgram {
  file: string;
  env: Record<string, string>;
}

/** A user of this machine, as numbers. */
export interface JailUser {
  uid: number;
  gid: number;
}

/**
 * The place of a program that reads files which a session can change meanwhile. It has the programs
 * of the system and the folders here, no network and no rights. So a link that replaces a folder
 * leads nowhere.
 */
export interface Jail {
  program: JailProgram;
  /** The user of the session, if its files are not of the user of this process. */
  user?: JailUser;
  /** The folder, inside, in which git starts. Another user may not enter it before. */
  chdir: string;
  /** Folders outside and their paths inside. */
  readable: readonly (readonly [from: string, to: string])[];
  writable: readonly (readonly [from: string, to: string])[];
}

/**
 * The folders of a jail. Nobody else has a folder there. Folders of the host, which have the same
 * path inside, can lie anywhere else.
 */
export const JAIL_FOLDERS = {
  work: '/run/drover-git/work',
  git: '/run/drover-git/git',
  objects: '/run/drover-git/objects',
  index: '/run/drover-git/index',
} as const;

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix'];
const TO_BECOME_ANOTHER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];

/** The command in the jail, with its environment. */
export function jailed(jail: Jail, command: readonly string[], env: Record<string, string>) {
  const { program, user, readable, writable } = jail;
  const argv = [
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--cap-drop',
    'ALL',
    ...(user === undefined
      ? ['--unshare-user']
      : TO_BECOME_ANOTHER.flatMap((name) => ['--cap-add', name])),
    ...SYSTEM.flatMap((path) => ['--ro-bind-try', path, path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
    ...[...readable, ...writable].flatMap(([, to]) => wayTo(to)),
    ...readable.flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...writable.flatMap(([from, to]) => ['--bind', from, to]),
    '--chdir',
    '/',
    '--',
    ...(user === undefined ? [] : becoming(user)),
    'env',
    '-i',
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...command,
  ];
  return { file: program.file, argv, env: program.env };
}

/** Without this, only their creator could enter the folders above. */
function wayTo(path: string): string[] {
  const above = dirname(path);
  return above === '/' ? [] : [...wayTo(above), '--perms', '0755', '--dir', above];
}

function becoming({ uid, gid }: JailUser): string[] {
  const ids = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  return ['setpriv', ...ids, '--inh-caps=-all', '--bounding-set=-all', '--'];
}
