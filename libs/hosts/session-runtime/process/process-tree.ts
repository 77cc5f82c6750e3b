import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { FIRST_REALTIME } from '#lib/kernel';

/** A process beyond confusion: ids are used again, but not with the same start time. */
export interface ProcessRef {
  pid: number;
  /** Clock ticks from the machine's start to the process'. */
  startTicks: number;
}

export interface ProcessInfo extends ProcessRef {
  parent: number;
  group: number;
  session: number;
  /** Whether somebody sits at it. */
  hasTerminal: boolean;
  /** Processor time so far, in clock ticks. */
  ticks: number;
}

/** The processes that came of one start, as they can be recognised. */
export interface ProcessTree {
  /** The value of one of MARKERS in their environment: the id of a run or a session. */
  id: string;
  /** The first one; it leads its own process group and session. */
  leader?: ProcessRef;
  /**
   * Whether the leader's group is still the tree's when the leader itself is gone: true only for a
   * watcher that has followed it all the time, because another process may lead a group of that number by
   * now.
   */
  groupIsOurs?: boolean;
}

/** The environment variables by which the processes of a tree are recognised. */
const MARKERS = ['DROVER_RUN_ID', 'DROVER_SESSION_ID'];

/** This process, beyond confusion with a later one of its number. */
export function ownRef(): ProcessRef {
  return { pid: process.pid, startTicks: readProcess(process.pid)?.startTicks ?? 0 };
}

/** Whether a process with this environment is recognised as one of the tree. */
export function isMarked(env: Record<string, string>, id: string): boolean {
  return MARKERS.some((name) => env[name] === id);
}

/** Every process of the machine but dead ones. Empty where there is no /proc. */
export function listProcesses(): ProcessInfo[] {
  return pids().flatMap((pid) => readProcess(pid) ?? []);
}

/** @returns undefined when there is no such process, or only its remains */
export function readProcess(pid: number): ProcessInfo | undefined {
  const [state, parent, group, session, terminal, ...fields] = statusOf(pid) ?? ['X'];
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    hasTerminal: terminal !== '0',
    ticks: Number(fields[6]) + Number(fields[7]),
    startTicks: Number(fields[14]),
  };
}

/**
 * The process that is the third below `ancestor`, and has this number in a sandbox' own count. Its remains
 * count too, until somebody has waited for it.
 */
export function findInside(ancestor: number, innerPid: number): ProcessRef | undefined {
  const parentOf = (pid: number): number => Number(statusOf(pid)?.[1] ?? 0);
  const pid = pids().find(
    (one) => innerPidOf(one) === innerPid && parentOf(parentOf(parentOf(one))) === ancestor,
  );
  return pid === undefined ? undefined : { pid, startTicks: Number(statusOf(pid)?.[19]) };
}

/** @returns the number of the realtime signal that the process dies or died by; undefined for any other end */
export function realtimeSignalOf(pid: number): number | undefined {
  const number = Number(statusOf(pid)?.[49]) & 127;
  return number >= FIRST_REALTIME ? number : undefined;
}

/** Whether the process is the one that was meant, and not a later one with its number. */
export function isAlive(ref: ProcessRef): boolean {
  return readProcess(ref.pid)?.startTicks === ref.startTicks;
}

/**
 * The living processes of a tree: the leader's group and session, processes that carry its mark in their
 * environment or work in its folder, one that is named by its id (a child may have left the
 * session), and the descendants of all those. A process that left the session, its parents, its environment and the folder behind is not
 * found.
 */
export function membersOf(tree: ProcessTree, processes = listProcesses()): ProcessInfo[] {
  const { leader } = tree;
  const trusted =
    leader !== undefined &&
    (tree.groupIsOurs === true || processes.some((one) => same(one, leader)));
  const earliest = leader?.startTicks ?? 0;
  const found = new Map<number, ProcessInfo>();
  for (const one of processes) {
    if (one.startTicks < earliest || one.pid === process.pid) continue;
    const inGroup = trusted && (one.group === leader.pid || one.session === leader.pid);
    if (inGroup || carriesMark(one, tree.id)) found.set(one.pid, one);
  }
  addDescendants(found, processes);
  return [...found.values()];
}

/** Sends a signal to every process of a tree. @returns how many were found */
export function signalTree(tree: ProcessTree, signal: NodeJS.Signals): number {
  const processes = listProcesses();
  // Without /proc the group is all that can be reached.
  if (processes.length === 0 && tree.leader !== undefined) send(-tree.leader.pid, signal);
  const members = membersOf(tree, processes);
  for (const { pid } of members) send(pid, signal);
  return members.length;
}

const POLL_MS = 50;
const KILL_ROUNDS = 100;

/**
 * Kills a tree until nothing of it is left: between two looks it may have forked.
 *
 * @param emptyLooks how many looks in a row must find nothing; more than one catches a process that
 *   was forked but does not carry the mark yet
 * @returns whether all are gone; false for a process that the kernel does not let go
 */
export async function killTree(tree: ProcessTree, emptyLooks = 1): Promise<boolean> {
  let empty = 0;
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    empty = signalTree(tree, 'SIGKILL') === 0 ? empty + 1 : 0;
    if (empty >= emptyLooks) return true;
    await delay(POLL_MS);
  }
  return false;
}

/** Sends a signal; a process that is gone, or not ours, is no error. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone between the look and the signal.
  }
}

function addDescendants(found: Map<number, ProcessInfo>, processes: ProcessInfo[]): void {
  for (let grown = found.size > 0; grown;) {
    grown = false;
    for (const one of processes) {
      if (found.has(one.pid) || !found.has(one.parent)) continue;
      found.set(one.pid, one);
      grown = true;
    }
  }
}

// The folder finds processes that dropped their environment. Not at a terminal: that is a person who looks
// in.
function carriesMark({ pid, hasTerminal }: ProcessInfo, id: string): boolean {
  const environ = readText(`/proc/${pid}/environ`);
  if (MARKERS.some((name) => hasLine(environ, `${name}=${id}`))) return true;
  return !hasTerminal && workingDirectoryOf(pid).split('/').includes(id);
}

function hasLine(environ: string | undefined, line: string): boolean {
  return environ?.split('\0').includes(line) === true;
}

function workingDirectoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** From the state on: what comes before is the name, in parentheses, and may hold anything. */
function statusOf(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function innerPidOf(pid: number): number {
  const [, numbers = ''] = /^NSpid:\t(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? '') ?? [];
  return Number(numbers.split('\t').at(-1));
}

function same(a: ProcessRef, b: ProcessRef): boolean {
  return a.pid === b.pid && a.startTicks === b.startTicks;
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
