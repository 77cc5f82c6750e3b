import { accessSync, constants, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of control groups if only version 2 is in use. Beside version 1 it controls neither
 * memory nor processes.
 */
const ROOT = '/sys/fs/cgroup';
const NEEDED = ['memory', 'pids'];

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

/** The group in which the groups of sessions can be created, or the reason why there is none. */
export function findGroup(): { path: string } | { reason: string } {
  const choice = chooseGroup(ownGroups().map(factsOf));
  if (choice.kind === 'none') return choice;
  try {
    if (choice.kind === 'free') {
      const handOn = NEEDED.map((name) => `+${name}`).join(' ');
      writeFileSync(join(choice.path, 'cgroup.subtree_control'), handOn);
    }
    return { path: choice.path };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

/** A group in use stays. The next removal of the session tries again. */
export function removeGroup(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // There is no such group, or it is in use.
  }
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
  const words = (name: string): string[] => read(join(path, name)).trim().split(/\s+/);
  const controllers = words('cgroup.controllers');
  const handedOn = words('cgroup.subtree_control');
  const inUse = read(join(path, 'cgroup.procs')).trim() !== '';
  const writable = ['.', 'cgroup.procs', 'cgroup.subtree_control'].every((name) =>
    isWritable(join(path, name)),
  );
  return { path, controllers, handedOn, inUse, writable };
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
