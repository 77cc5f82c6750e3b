import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionLimits } from './limits.js';
import { look } from './mounts.js';

/** The folder of version 2 if it is in use alone. Controllers of version 1 have folders in it. */
const ROOT = '/sys/fs/cgroup';
const NEEDED = ['memory', 'pids'];
/** Gives each session the same share of the cores, however many processes it has. */
const USEFUL = ['cpu'];
const MIB = 1_048_576;
/** A killed process leaves its group some milliseconds later, on a busy machine some hundred. */
const LOOK_MS = 20;
const MAX_LOOKS = 50;

/** The folders of control groups by controller: the parents of sessions' groups, or one session's. */
export interface ControlGroups {
  version: 1 | 2;
  memory: string;
  pids: string;
  /** Absent where processor time cannot be shared out. */
  cpu?: string;
}

/** The facts about a control group. */
export interface GroupFacts {
  path: string;
  /** The controllers that it can enable for groups within it. `handedOn` are the enabled ones. */
  controllers: string[];
  handedOn: string[];
  /** True if it contains processes: it cannot enable more controllers then. */
  inUse: boolean;
  /** True if this user can create groups in it, and move processes between them. */
  writable: boolean;
}

export type GroupChoice =
  | { kind: 'ready'; path: string }
  /** The group must enable the controllers first. */
  | { kind: 'free'; path: string }
  | { kind: 'none'; reason: string };

/**
 * Chooses the group in which the groups of sessions are created. The best candidate comes first.
 */
export function chooseGroup(candidates: readonly GroupFacts[]): GroupChoice {
  const none = (reason: string): GroupChoice => ({ kind: 'none', reason });
  const able = candidates.filter(({ controllers }) => hasAll(controllers));
  if (able.length === 0) return none('no control group limits memory and processes here');
  const ours = able.filter(({ writable }) => writable);
  if (ours.length === 0) return none('no control group is this user’s');
  const ready = ours.find(({ handedOn }) => hasAll(handedOn));
  if (ready !== undefined) return { kind: 'ready', path: ready.path };
  const free = ours.find(({ inUse }) => !inUse);
  if (free !== undefined) return { kind: 'free', path: free.path };
  return none('processes are in the control group that is this user’s');
}

/** The groups in which the groups of sessions can be created, or the reason why there are none. */
export function findGroups(): { groups: ControlGroups } | { reason: string } {
  const ofVersion1 = groupsOfVersion1();
  if (ofVersion1 !== undefined) return { groups: ofVersion1 };
  const choice = chooseGroup(ownGroups().map(factsOf));
  if (choice.kind === 'none') return choice;
  const { path } = choice;
  try {
    if (choice.kind === 'free') handOn(path);
    const sharesTime = wordsIn(join(path, 'cgroup.subtree_control')).includes('cpu');
    const groups = { version: 2 as const, memory: path, pids: path };
    return { groups: sharesTime ? { ...groups, cpu: path } : groups };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

/** The groups of one session. */
export function groupsOf({ version, ...parents }: ControlGroups, sessionId: string): ControlGroups {
  const within = (parent: string): string => join(parent, `drover-${sessionId}`);
  const { memory, pids, cpu } = parents;
  const groups = { version, memory: within(memory), pids: within(pids) };
  return cpu === undefined ? groups : { ...groups, cpu: within(cpu) };
}

/**
 * Creates the groups of a session with their limits. If this host cannot, there are none, and nobody
 * can join them. A group of an earlier session of this id that is still in use stays as it is.
 */
export function makeGroups(
  groups: ControlGroups,
  { memoryMb, processes }: Pick<SessionLimits, 'memoryMb' | 'processes'>,
): void {
  const bytes = memoryMb * MIB;
  const write = (value: number, path: string, file: string): void =>
    writeFileSync(join(path, file), String(value));
  const isNewer = groups.version === 2;
  try {
    for (const path of pathsOf(groups)) mkdirSync(path);
    if (memoryMb > 0) {
      write(bytes, groups.memory, isNewer ? 'memory.max' : 'memory.limit_in_bytes');
      // Some kernels do not limit swap.
      look(() =>
        isNewer
          ? write(0, groups.memory, 'memory.swap.max')
          : write(bytes, groups.memory, 'memory.memsw.limit_in_bytes'),
      );
    }
    if (processes > 0) write(processes, groups.pids, 'pids.max');
  } catch {
    pathsOf(groups).forEach(removeGroup);
  }
}

/** The steps with which a shell joins the groups of a session. */
export function joinGroups(groups: ControlGroups): string[] {
  return pathsOf(groups).map((path) => `echo $$ > ${quote(join(path, 'cgroup.procs'))}`);
}

/** Waits for processes that are ending. A group in use stays; the next removal tries again. */
export async function removeGroups(groups: ControlGroups): Promise<void> {
  for (const path of pathsOf(groups)) {
    for (let looks = 1; !removeGroup(path) && looks < MAX_LOOKS; looks += 1) await delay(LOOK_MS);
  }
}

/** @returns false if it is in use */
function removeGroup(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EBUSY';
  }
}

/** Version 2 has one folder for all controllers. */
function pathsOf({ memory, pids, cpu }: ControlGroups): string[] {
  return [...new Set([memory, pids, cpu])].filter((path) => path !== undefined);
}

function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function handOn(path: string): void {
  const offered = wordsIn(join(path, 'cgroup.controllers'));
  const controllers = [...NEEDED, ...USEFUL.filter((name) => offered.includes(name))];
  const orders = controllers.map((name) => `+${name}`).join(' ');
  writeFileSync(join(path, 'cgroup.subtree_control'), orders);
}

/** Each controller has a tree of its own, and this process a group in each. */
function groupsOfVersion1(): ControlGroups | undefined {
  const [memory, pids, cpu] = [...NEEDED, ...USEFUL].map(groupOfVersion1);
  if (memory === undefined || pids === undefined) return undefined;
  const groups = { version: 1 as const, memory, pids };
  return cpu === undefined ? groups : { ...groups, cpu };
}

function groupOfVersion1(controller: string): string | undefined {
  const line = new RegExp(`^[1-9]\\d*:(?:[^:]*,)?${controller}(?:,[^:]*)?:(/.*)$`, 'm');
  const own = line.exec(read('/proc/self/cgroup'))?.[1];
  if (own === undefined) return undefined;
  // In a container the group of this process is the root of what it sees.
  const folders = [join(ROOT, controller, own), join(ROOT, controller)];
  return folders.find((path) => isWritable(join(path, 'cgroup.procs')));
}

/**
 * The group of this process and its parent: a service with delegated groups runs in a group within.
 */
function ownGroups(): string[] {
  const own = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup'))?.[1];
  if (own === undefined) return [];
  return own === '/' ? [ROOT] : [join(ROOT, dirname(own)), join(ROOT, own)];
}

function factsOf(path: string): GroupFacts {
  const controllers = wordsIn(join(path, 'cgroup.controllers'));
  const handedOn = wordsIn(join(path, 'cgroup.subtree_control'));
  const inUse = read(join(path, 'cgroup.procs')).trim() !== '';
  const writable = ['.', 'cgroup.procs', 'cgroup.subtree_control'].every((name) =>
    isWritable(join(path, name)),
  );
  return { path, controllers, handedOn, inUse, writable };
}

function wordsIn(file: string): string[] {
  return read(file).trim().split(/\s+/);
}

function hasAll(controllers: string[]): boolean {
  return NEEDED.every((name) => controllers.includes(name));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
