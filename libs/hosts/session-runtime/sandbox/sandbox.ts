import { execFileSync } from 'node:child_process';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { type Network, type Reach, reachOf, strictestReach } from '#lib/kernel';
import { findExecutable } from '../process/find-executable.js';
import type { BorrowedFolder, SessionService } from '../drivers/driver.js';
import type { SessionUser } from '../process/session-folder.js';
import { limitingScript, limitProcesses } from './apply-limits.js';
import { type ControlGroups, groupsOf } from './control-group.js';
import type { FolderQuota, FolderQuotas } from './folder-quota.js';
import type { SessionLimits } from './limits.js';
import {
  addressInside,
  API_SOCKET,
  type Forwarding,
  forwardingTo,
  type ServerAddress,
} from './api-forwarder.js';
import { type CredentialSource, type Egress, EGRESS_PORT, proxyVariables } from './egress.js';
import { innerCommand, SYSTEM_PATH } from './inner-process.js';
import { isFile, isFolder, isWithin, look, mounts } from './mounts.js';
import { isKnownProcessor, type Processor } from './seccomp.js';

/** Bubblewrap and its environment. */
export interface SandboxProgram {
  file: string;
  env: Record<string, string>;
}

/** The isolation of a host's sessions from the machine and from each other. */
export interface Sandbox {
  program: SandboxProgram;
  /** Paths that no session can see, in addition to homes, temporary folders and `/run`. */
  hidden: readonly string[];
  /** Paths that sessions can read although their parent folders are hidden. */
  shown: readonly string[];
  /** The most that a session can get. */
  network: Network;
  /** The hosts that sessions reach with `allow`. */
  allowedHosts: readonly string[];
  /** The hosts with their ports, as in `registry.corp:443`, that can have internal addresses. */
  privateHosts: readonly string[];
  /** The limits of a session that asks for none, and the maximum for all sessions. */
  limits: SessionLimits;
  maxLimits: SessionLimits;
  /** The parents of the sessions' control groups, if this process can create any. */
  groups?: ControlGroups;
  /** The quotas of the file system of the sessions' folders, if it has any. */
  quotas?: FolderQuotas;
  /** True if sessions of different workspaces run as one user. */
  sharesAccount?: boolean;
}

/** The paths of one session. */
export interface SandboxPlaces {
  /** The folder of all sessions. `root` is this session's folder within it. */
  dir: string;
  root: string;
  /** The part of its own folder that the session must not see. */
  launch: string;
  tmp: string;
  /** The path of `root` within the sandbox, if it is another one. */
  seenAt?: string;
  /** The folder outside its own one in which the session works. */
  shared?: string;
  /** Folders that the session sees at further paths, read-only. */
  borrowed?: readonly BorrowedFolder[];
  searchPath: string;
  /** The user that runs the command, if it is not the user of this process. */
  user?: SessionUser;
}

/** The network of one session. */
export interface SandboxReach extends Partial<Reach> {
  /** The server that the session reaches without a network, too. */
  server?: ServerAddress;
  /** The headers that the proxy for allowed hosts adds. */
  credentials?: CredentialSource;
  /** Further services of the host for a session without a network. */
  services?: readonly SessionService[];
}

/** A command that starts the first process of a sandbox. */
export interface SandboxLaunch {
  file: string;
  args: string[];
  env: Record<string, string>;
  limits: SessionLimits;
  /** The control groups that are made before the command, which joins them. */
  groups?: ControlGroups;
  /** The quota of the session's folder, if it has one. */
  quota?: FolderQuota;
  /** The processor whose filter descriptor FILTER gives. */
  processor?: Processor;
  /** The path for the program that gives the session a keyring of its own. */
  keyring?: string;
  /** The way to the server if the sandbox has no network. */
  forwarding?: Forwarding;
  /** The way to the allowed hosts, if there are any. */
  egress?: Egress;
  /** The services of the sandbox's own loopback address, by their paths inside. */
  services: { port: number; socket: string }[];
}

/** Descriptors of the command: the socket to the first process, and the filter for bubblewrap. */
export const CHANNEL = 3;
export const FILTER = 4;

/** Settings of the machine below `/proc`: root can change them without any privilege. */
const SETTINGS = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr', 'pressure'];
const MIB = 1_048_576;
/** The memory of a session without a limit, for the size of its shared memory. */
const UNLIMITED_MB = 4_096;
const SHARED_PART = 4;
/**
 * The capabilities that `setpriv` needs to become another user for good. The user of this process
 * creates the sandbox, so the other one needs no access to bubblewrap and the host's folders.
 */
const TO_BECOME_ANOTHER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];
/** The keys that a process can see. */
const KEYS = ['/proc/keys', '/proc/key-users'];
const CONTROL_GROUPS = '/sys/fs/cgroup';

/**
 * The command for one session. The session has its own processes, memory segments and mounts, and
 * no privileges. It can read the system and write its own folder and its working folder. It sees no
 * other session.
 */
export function sandboxLaunch(
  sandbox: Sandbox,
  places: SandboxPlaces,
  { credentials = [], server, services = [], ...asked }: SandboxReach = {},
): SandboxLaunch {
  const { program, limits } = sandbox;
  const reach = reachWithin(sandbox, asked);
  const isCutOff = reach.network !== 'host';
  const egress =
    reach.network === 'allow'
      ? {
          socket: join(places.launch, 'egress'),
          allowedHosts: reach.allowedHosts,
          privateHosts: sandbox.privateHosts,
          credentials,
        }
      : undefined;
  const reached = [
    ...(isCutOff ? services : []),
    ...(egress === undefined ? [] : [{ port: EGRESS_PORT, socket: egress.socket }]),
  ];
  const forwarding =
    isCutOff && server !== undefined ? forwardingTo(server, join(places.launch, 'api')) : undefined;
  const processor = isKnownProcessor(process.arch) ? process.arch : undefined;
  const byAccount = sandbox.sharesAccount === true ? undefined : 'account';
  const countedBy = places.user === undefined ? 'sandbox' : byAccount;
  const args = [
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-cgroup-try',
    '--cap-drop',
    'ALL',
    ...(places.user === undefined
      ? namespaceOf(program)
      : TO_BECOME_ANOTHER.flatMap((name) => ['--cap-add', name])),
    ...(processor === undefined ? [] : ['--seccomp', String(FILTER)]),
    ...(isCutOff ? ['--unshare-net'] : []),
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    ...sharedMemory(sandbox.limits),
    '--remount-ro',
    '/dev',
    '--proc',
    '/proc',
    ...SETTINGS.map((name) => `/proc/${name}`).flatMap((path) => ['--ro-bind-try', path, path]),
    ...KEYS.filter(isFile).flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...(isFolder(CONTROL_GROUPS) ? coverFully(CONTROL_GROUPS) : []),
    ...withoutSpace([
      ...mounts(sandbox, places),
      ...(forwarding === undefined ? [] : ['--ro-bind', forwarding.socket, API_SOCKET]),
      ...reached.flatMap(({ port, socket }) => ['--ro-bind', socket, socketInside(port)]),
    ]),
    '--chdir',
    '/',
    '--',
    ...(places.user === undefined ? [] : becoming(places.user, places.searchPath)),
    ...limitProcesses(limits, countedBy),
    ...innerCommand(places.searchPath),
  ];
  const keyring =
    processor && isAbsolute(program.file) ? join(places.launch, 'own-keyring') : undefined;
  const groups = sandbox.groups && groupsOf(sandbox.groups, basename(places.root));
  return {
    file: '/bin/sh',
    args: ['-c', limitingScript(limits, groups), keyring ?? 'sh', program.file, ...args],
    env: program.env,
    limits,
    groups,
    processor,
    keyring,
    forwarding,
    egress,
    services: [
      ...(forwarding === undefined ? [] : [{ port: forwarding.port, socket: API_SOCKET }]),
      ...reached.map(({ port }) => ({ port, socket: socketInside(port) })),
    ],
  };
}

/** The reach of a session that asks for this one. The default is `none`. */
export function reachWithin(
  sandbox: Pick<Sandbox, 'network' | 'allowedHosts'>,
  { network = 'none', allowedHosts = [] }: Partial<Reach> = {},
): Reach {
  const own = reachOf(sandbox.network, sandbox.allowedHosts);
  return strictestReach(own, { network, allowedHosts });
}

/** The path of a service's socket within the sandbox. */
function socketInside(port: number): string {
  return `/run/drover-service-${port}`;
}

/** Programs share memory by files in it. They count as memory of the session. */
function sharedMemory({ memoryMb }: SessionLimits): string[] {
  const bytes = Math.floor((memoryMb || UNLIMITED_MB) / SHARED_PART) * MIB;
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', '/dev/shm'];
}

/** A folder that hides another one is in memory, which a session that can write to it could fill. */
function withoutSpace(mounts: string[]): string[] {
  const empty = mounts.filter((path, index) => {
    return mounts[index - 1] === '--tmpfs' && !isCoveredLater(path, mounts.slice(index));
  });
  return [...mounts, ...empty.flatMap((path) => ['--remount-ro', path])];
}

/** A folder that a later mount covers can no longer be changed, nor be seen. */
function isCoveredLater(path: string, later: string[]): boolean {
  const folders = later.filter((_, index) => {
    return later[index - 1] === '--tmpfs' || /^--(ro-)?bind/.test(later[index - 2] ?? '');
  });
  return folders.some((folder) => folder !== path && isWithin(path, [folder]));
}

/** The variables with the server's address inside, if it differs from the address outside, and with the proxy. */
export function networkVariables({ forwarding, egress }: SandboxLaunch): Record<string, string> {
  return {
    ...(forwarding !== undefined && { DROVER_API_URL: addressInside(forwarding) }),
    ...(egress !== undefined && proxyVariables()),
  };
}

/** A user namespace that holds no further one. Bubblewrap has the second option since 0.8.0. */
function namespaceOf({ file, env }: SandboxProgram): string[] {
  const known = nestable.get(file) ?? canForbidNesting(file, env);
  nestable.set(file, known);
  return ['--unshare-user', ...(known ? ['--disable-userns'] : [])];
}

const nestable = new Map<string, boolean>();

function canForbidNesting(file: string, env: Record<string, string>): boolean {
  const help = look(() => execFileSync(file, ['--help'], { env, encoding: 'utf8', stdio: 'pipe' }));
  return help?.includes('--disable-userns') === true;
}

/**
 * Becomes the user for good, without any privilege.
 *
 * @throws Error when the machine cannot do that
 */
function becoming({ uid, gid }: SessionUser, searchPath: string): string[] {
  const program = findExecutable('setpriv', `${SYSTEM_PATH}${delimiter}${searchPath}`);
  if (program === undefined) throw new Error('`setpriv` of util-linux is not installed');
  const ids = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  return [program, ...ids, '--inh-caps=-all', '--bounding-set=-all', '--'];
}

/** An empty folder that nobody can write. */
function coverFully(path: string): string[] {
  return ['--tmpfs', path, '--remount-ro', path];
}
