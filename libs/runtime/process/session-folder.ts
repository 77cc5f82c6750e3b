import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, closeSync, constants, existsSync, linkSync } from 'node:fs';
import { mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFileSync } from '../regular-file.js';
import { removeTree } from '../remove-tree.js';
import { isAlive, type ProcessRef, readProcess } from './process-tree.js';

/** Who has the right to start the session's first process, or has voided it. */
export interface Claim {
  /** Absent: voided, nobody may start it any more. */
  keeper?: ProcessRef;
  /** Process ids and start times count anew after each boot of the machine. */
  bootId: string;
}

/** A user of this machine, as its numbers. */
export interface SessionUser {
  uid: number;
  gid: number;
}

/** Written when the first process runs. */
export interface Started {
  leader: ProcessRef;
  startedAt: string;
}

/** Written when nothing of the session is left, or when it could not be started. */
export type Ended =
  | {
      kind: 'exited';
      exitCode: number | null;
      signal: string | null;
      oomKilled: boolean | null;
      output: string;
      endedAt: string;
    }
  | NotStarted;

/** Why it could not be started. */
export interface NotStarted {
  kind: 'failed';
  message: string;
  /** Whether another attempt may succeed. */
  passing: boolean;
}

const LAUNCH_PREFIX = 'launch-';
/** Bytes of a file of the keeper's, the end of the output included. */
const MAX_FILE_BYTES = 64 * 1024;
/** Follows no link, and does not wait for the reader of a pipe. */
const TOUCH =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_TRUNC |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * The folder of one session. What its keeper writes lies in a folder of that one attempt to start
 * it, so that a keeper that comes late, after its attempt was voided and another made, finds nothing
 * to claim. A session of the keeper's own user can put anything there: it may lose its own end by that,
 * but nobody waits for it.
 */
export class SessionFolder {
  readonly work: string;
  readonly tmp: string;
  readonly taskFile: string;
  readonly signalsFile: string;

  constructor(
    readonly root: string,
    /** The folder of the attempt. */
    readonly launch: string,
  ) {
    this.work = join(root, 'work');
    this.tmp = join(root, 'tmp');
    this.taskFile = join(root, 'task.json');
    this.signalsFile = join(root, 'signals.jsonl');
  }

  /**
   * @param user whose the session's part of it becomes, where that is not the runtime's own
   * @throws Error EEXIST when there is one already
   */
  static create(dir: string, id: string, task: object, user?: SessionUser): SessionFolder {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const root = join(dir, id);
    mkdirSync(root, { mode: 0o700 });
    const folder = new SessionFolder(root, join(root, `${LAUNCH_PREFIX}${randomUUID()}`));
    mkdirSync(folder.launch, { mode: 0o700 });
    mkdirSync(folder.work, { mode: 0o700 });
    mkdirSync(folder.tmp, { mode: 0o700 });
    writeFileSync(folder.taskFile, JSON.stringify(task), { mode: 0o600 });
    writeFileSync(folder.signalsFile, '', { mode: 0o600 });
    if (user !== undefined) folder.handOver(dir, user);
    return folder;
  }

  /** @returns undefined when there is none, or one that was broken off before anything could start */
  static open(dir: string, id: string): SessionFolder | undefined {
    const root = join(dir, id);
    const launch = namesIn(root).find((name) => name.startsWith(LAUNCH_PREFIX));
    return launch === undefined ? undefined : new SessionFolder(root, join(root, launch));
  }

  /**
   * Takes the right to start the session, which can be had once.
   *
   * @param keeper who will start it; without one, the right is voided
   * @returns whether it could be had
   */
  claim(keeper?: ProcessRef): boolean {
    const draft = join(this.launch, `claim-${process.pid}-${randomUUID()}`);
    try {
      const claim: Claim = { keeper, bootId: bootId() };
      writeFileSync(draft, JSON.stringify(claim), { mode: 0o600 });
      // A link is made whole or not at all, and never over another one.
      linkSync(draft, this.file('claim'));
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST' || code === 'ENOENT') return false;
      throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  readClaim(): Claim | undefined {
    return this.read<Claim>('claim');
  }

  /** Whether the process that follows the session lives. */
  keeperLives(claim: Claim): boolean {
    return claim.keeper !== undefined && claim.bootId === bootId() && isAlive(claim.keeper);
  }

  writeStarted(started: Started): void {
    this.write('started', started);
  }

  readStarted(): Started | undefined {
    return this.read<Started>('started');
  }

  writeEnded(ended: Ended): void {
    this.write('ended', ended);
  }

  readEnded(): Ended | undefined {
    return this.read<Ended>('ended');
  }

  hasEnded(): boolean {
    return existsSync(this.file('ended'));
  }

  /** Notes that the session has just written something. */
  touch(): void {
    closeSync(openSync(join(this.launch, 'activity'), TOUCH, 0o600));
  }

  activityAt(): Date | undefined {
    try {
      return statSync(join(this.launch, 'activity')).mtime;
    } catch {
      return undefined;
    }
  }

  /** What the session reads and writes is its user's; the way there can be gone, and not listed. */
  private handOver(dir: string, { uid, gid }: SessionUser): void {
    for (const path of [this.work, this.tmp, this.taskFile, this.signalsFile]) {
      chownSync(path, uid, gid);
    }
    for (const path of [dir, this.root]) chmodSync(path, 0o711);
  }

  private file(name: string): string {
    return join(this.launch, `${name}.json`);
  }

  private read<T>(name: string): T | undefined {
    const file = readRegularFileSync(this.file(name), MAX_FILE_BYTES);
    if (file.kind !== 'text') return undefined;
    try {
      return JSON.parse(file.text) as T;
    } catch {
      return undefined;
    }
  }

  // Through a rename, so that whoever reads it finds all of it or nothing.
  private write(name: string, value: object): void {
    const draft = `${this.file(name)}.new`;
    try {
      rmSync(draft, { recursive: true, force: true });
      writeFileSync(draft, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
      renameSync(draft, this.file(name));
    } catch (error) {
      if (existsSync(draft)) unlinkSync(draft);
      throw error;
    }
  }
}

export function listFolders(dir: string): string[] {
  return namesIn(dir);
}

export async function removeFolder(dir: string, id: string): Promise<void> {
  await removeTree(join(dir, id));
}

/** This process, beyond confusion with a later one of its number. */
export function ownRef(): ProcessRef {
  return { pid: process.pid, startTicks: readProcess(process.pid)?.startTicks ?? 0 };
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
