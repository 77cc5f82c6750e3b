import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { FIRST_REALTIME } from '#lib/kernel';

/** A unique process: the kernel reuses ids, but not with the same start time. */
export interface ProcessRef {
  pid: number;
  /** Clock ticks from the start of the machine to the start of the process. */
  startTicks: number;
}

export interface ProcessInfo extends ProcessRef {
  parent: number;
  group: number;
  session: number;
  /** True if a person can sit at it. */
  hasTerminal: boolean;
  /** Processor time so far, in clock ticks. */
  ticks: number;
}

/** The processes that descend from one start, with the facts that identify them. */
export interface ProcessTree {
  /** The value of one of MARKERS in their environment: the id of a run or a session. */
  id: string;
  /** The first process. It leads its own process group and session. */
  leader?: ProcessRef;
  /**
   * True if the leader's group still belongs to the tree after the leader's end. Only a watcher
   * that has followed it all the time knows this, because another process can lead a group of that
   * number now.
   */
  groupIsOurs?: boolean;
}

/** The environment variables that identify the processes of a tree. */
const MARKERS = ['DROVER_RUN_ID', 'DROVER_SESSION_ID'];

/** This process, as a unique reference. */
export function ownRef(): ProcessRef {
  return { pid: process.pid, startTicks: readProcess(process.pid)?.startTicks ?? 0 };
}

/** True if a process with this environment belongs to the tree. */
export function isMarked(env: Record<string, string>, id: string): boolean {
  return MARKERS.some((name) => env[name] === id);
}

/** Every process of the machine except dead ones. Empty if there is no /proc. */
export function listProcesses(): ProcessInfo[] {
  return pids().flatMap((pid) => readProcess(pid) ?? []);
}

/**
 * @returns undefined if there is no such process, or if it is a zombie
 */
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
 * The process three levels below `ancestor` that has this number inside its sandbox. A zombie
 * counts too, until somebody waits for it.
 */
export function findInside(ancestor: number, innerPid: number): ProcessRef | undefined {
  const parentOf = (pid: number): number => Number(statusOf(pid)?.[1] ?? 0);
  const pid = pids().find(
    (one) => innerPidOf(one) === innerPid && parentOf(parentOf(parentOf(one))) === ancestor,
  );
  return pid === undefined ? undefined : { pid, startTicks: Number(statusOf(pid)?.[19]) };
}

/**
 * @returns the number of the realtime signal that ends the process; undefined for any other end
 */
export function realtimeSignalOf(pid: number): number | undefined {
  const number = Number(statusOf(pid)?.[49]) & 127;
  return number >= FIRST_REALTIME ? number : undefined;
}

/** A process and all its descendants. The processes of a sandbox cannot leave them. */
export function descendantsOf(pid: number): number[] {
  const found = [pid];
  for (const one of found) found.push(...childrenOf(one));
  return found;
}

/** True if the process is the meant one, and not a later one with its number. */
export function isAlive(ref: ProcessRef): boolean {
  return readProcess(ref.pid)?.startTicks === ref.startTicks;
}

/**
 * The living processes of a tree: the leader's group and session, processes with its mark in their
 * environment, processes that work in its folder (a child can leave the session), and the
 * descendants of all these. A process that left the session, its parents, its environment and the
 * folder is not found.
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

/** Sends a signal to every process of a tree. @returns the number of processes that were found */
export function signalTree(tree: ProcessTree, signal: NodeJS.Signals): number {
  const processes = listProcesses();
  // Without /proc only the group can be reached.
  if (processes.length === 0 && tree.leader !== undefined) send(-tree.leader.pid, signal);
  const members = membersOf(tree, processes);
  for (const { pid } of members) send(pid, signal);
  return members.length;
}

const POLL_MS = 50;
const KILL_ROUNDS = 100;

/**
 * Kills a tree until no process of it is left: a process can fork between two looks.
 *
 * @param emptyLooks the number of looks in a row that must find nothing; more than one catches a
 *   process that was just forked and has no mark yet
 * @returns true if all are gone; false if the kernel keeps a process alive
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

/** Sends a signal. A process that is gone, or belongs to another user, is no error. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended between the look and the signal.
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

// The folder identifies processes that dropped their environment. A process at a terminal does not
// count: a person looks into the folder there.
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

/**
 * The fields from the state on. The name before them, in parentheses, can contain any character.
 */
function statusOf(pid: number): string[] | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function childrenOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  const lists = namesIn(tasks).map((task) => readText(`${tasks}/${task}/children`) ?? '');
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

function innerPidOf(pid: number): number {
  const [, numbers = ''] = /^NSpid:\t(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? '') ?? [];
  return Number(numbers.split('\t').at(-1));
}

function same(a: ProcessRef, b: ProcessRef): boolean {
  return a.pid === b.pid && a.startTicks === b.startTicks;
}

function pids(): number[] {
  return namesIn('/proc').map(Number).filter(Number.isInteger);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
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
