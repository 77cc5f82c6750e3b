import { accessSync, constants, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where version 2 alone is in use; beside version 1 it controls neither memory nor processes. */
const ROOT = '/sys/fs/cgroup';
const NEEDED = ['memory', 'pids'];

/** What is known of a control group. */
export interface GroupFacts {
  path: string;
  /** What it could have groups within it control, and what it does. */
  controllers: string[];
  handedOn: string[];
  /** Whether processes are in it: then it cannot hand on more than it does. */
  inUse: boolean;
  /** Whether this user may make groups in it, and move processes between them. */
  writable: boolean;
}

export type GroupChoice =
  | { kind: 'ready'; path: string }
  /** It has to hand on the controllers first. */
  | { kind: 'free'; path: string }
  | { kind: 'none'; reason: string };

/** Decides in which group those of sessions are made, the best candidate first. */
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

/** The group in which those of sessions can be made, or why there is none. */
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

/** One that is still in use stays: whoever removes the session tries again. */
export function removeGroup(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // There was none, or it is in use.
  }
}

/** That of this process, and the one above it: where a service was given a group, it is in one within. */
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
