import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, closeSync, constants, existsSync, linkSync } from 'node:fs';
import { mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SessionExit, SessionFile } from '../drivers/driver.js';
import { readRegularFileSync } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import { isAlive, type ProcessRef } from './process-tree.js';

/** The right to start the session's first process, taken or voided. */
export interface Claim {
  /**
   * The process that starts and follows the session: its shim, or the host itself. It is absent if
   * the right is voided: nobody can start the session then. Files of installed gateways contain
   * this name.
   */
  keeper?: ProcessRef;
  /** Process ids and start times restart after each boot of the machine. */
  bootId: string;
}

/** A user of this machine, as numbers. */
export interface SessionUser {
  uid: number;
  gid: number;
}

/** The file that is written when the first process runs. */
export interface Started {
  leader: ProcessRef;
  startedAt: string;
}

/**
 * The file that is written when no process of the session is left, or when it could not be started.
 */
export type Ended = ({ kind: 'exited' } & Omit<SessionExit, 'lost'>) | NotStarted;

/** The reason why a session could not be started. */
export interface NotStarted {
  kind: 'failed';
  message: string;
  /** True if another attempt can succeed. */
  passing: boolean;
}

const execute = promisify(execFile);
const LAUNCH_PREFIX = 'launch-';
const SIGNALS_FILE: SessionFile = { name: 'signals.jsonl', content: '' };
/** The maximum size of a file of the shim, in bytes. The end of the output is a part of it. */
const MAX_FILE_BYTES = 64 * 1024;
const ACTIVITY_EVERY_MS = 1_000;
/** Follows no link, and does not wait for the reader of a pipe. */
const TOUCH =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_TRUNC |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * The folder of one session. Each attempt to start it has a folder of its own for the shim's files.
 * A late shim, whose attempt was voided and replaced, therefore finds nothing to claim. That folder
 * lies elsewhere, and a session in a sandbox cannot see it. A session without a sandbox, with the
 * shim's own user, can write anything there. It can lose its own end by that, but nobody waits for
 * it.
 */
export class SessionFolder {
  readonly work: string;
  readonly tmp: string;
  readonly signalsFile: string;
  private activeAt = 0;
  /** What was made for the session, and is still the host's. */
  private made: string[] = [];

  constructor(
    readonly root: string,
    /** The folder of the attempt. */
    readonly launch: string,
  ) {
    this.work = join(root, 'work');
    this.tmp = join(root, 'tmp');
    this.signalsFile = this.pathOf(SIGNALS_FILE.name);
  }

  /**
   * Makes a folder that is the host's until `handOver`.
   *
   * @param isMade true if the empty folder was just made
   * @throws Error EEXIST if the folder exists already
   */
  static create(dir: string, id: string, files: SessionFile[], isMade = false): SessionFolder {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const root = join(dir, id);
    if (isMade) chmodSync(root, 0o700);
    else mkdirSync(root, { mode: 0o700 });
    const launch = join(attemptsOf(dir, id), `${LAUNCH_PREFIX}${randomUUID()}`);
    const folder = new SessionFolder(root, launch);
    mkdirSync(folder.launch, { recursive: true, mode: 0o700 });
    mkdirSync(folder.work, { mode: 0o700 });
    mkdirSync(folder.tmp, { mode: 0o700 });
    folder.made.push(folder.work, folder.tmp);
    folder.add([SIGNALS_FILE, ...files]);
    return folder;
  }

  /** Adds files before the folder is the session's. */
  add(files: readonly SessionFile[]): void {
    for (const { name, content, isFolder, isExecutable } of files) {
      if (isFolder) this.made.push(this.makeEmpty(name));
      if (content === undefined) continue;
      this.made.push(...this.makeParents(name), this.pathOf(name));
      writeFileSync(this.pathOf(name), content, { mode: isExecutable ? 0o700 : 0o600 });
    }
  }

  /** Lets the users of sessions pass through the folder of all of them. They cannot list it. */
  static letThrough(dir: string): void {
    chmodSync(dir, 0o711);
  }

  /**
   * Gives the user the session's part of the folder. The folder itself comes last: after this its user
   * can replace the other paths by links.
   */
  handOver({ uid, gid }: SessionUser): void {
    for (const path of [...this.made, this.root]) chownSync(path, uid, gid);
    this.made = [];
  }

  /** The path of a file of the session. */
  pathOf(name: string): string {
    return join(this.root, name);
  }

  /** The folder as a sandbox shows it. */
  seenAt(path = this.root): Pick<SessionFolder, 'work' | 'tmp' | 'signalsFile' | 'pathOf'> {
    return new SessionFolder(path, this.launch);
  }

  /** Gives the user all files of the working folder. No process of the session runs yet. */
  async handOverWork(user: SessionUser | undefined): Promise<void> {
    if (user === undefined) return;
    await execute('chown', ['-Rh', `${user.uid}:${user.gid}`, '--', this.work]);
  }

  private makeEmpty(name: string): string {
    mkdirSync(this.pathOf(name), { mode: 0o700 });
    return this.pathOf(name);
  }

  /** @returns the folders that were made */
  private makeParents(name: string): string[] {
    const above = name.split('/').slice(0, -1);
    if (above.includes('..')) throw new Error(`The file ${name} lies outside of the session`);
    const folders = above.map((_, depth) => this.pathOf(above.slice(0, depth + 1).join('/')));
    const missing = folders.filter((path) => !existsSync(path));
    for (const path of missing) mkdirSync(path, { mode: 0o700 });
    return missing;
  }

  /**
   * @returns undefined if there is none, or if its creation was broken off before a start was
   *   possible
   */
  static open(dir: string, id: string): SessionFolder | undefined {
    const root = join(dir, id);
    // Earlier versions have it in the session's own folder.
    const [launch] = [attemptsOf(dir, id), root].flatMap(launchesIn);
    return launch === undefined ? undefined : new SessionFolder(root, launch);
  }

  /**
   * Takes the right to start the session. It can be taken once.
   *
   * @param shim the process that will start the session; without one, the right is voided
   * @returns true if this call took the right
   */
  claim(shim?: ProcessRef): boolean {
    const draft = join(this.launch, `claim-${process.pid}-${randomUUID()}`);
    try {
      const claim: Claim = { keeper: shim, bootId: bootId() };
      writeFileSync(draft, JSON.stringify(claim), { mode: 0o600 });
      // A link is created completely or not at all, and never replaces another one.
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

  /** True if the process that follows the session is alive. */
  shimLives(claim: Claim): boolean {
    return claim.keeper !== undefined && claim.bootId === bootId() && isAlive(claim.keeper);
  }

  /**
   * Writes the file if possible. On a full disk, or in a removed folder, the mark identifies the
   * session.
   */
  writeStarted(started: Started): void {
    attempt(() => this.write('started', started));
  }

  readStarted(): Started | undefined {
    return this.read<Started>('started');
  }

  writeEnded(ended: Ended): void {
    this.write('ended', ended);
  }

  /** Writes the file if possible. The end is also known without it. */
  noteEnded(ended: Ended): void {
    attempt(() => this.write('ended', ended));
  }

  readEnded(): Ended | undefined {
    return this.read<Ended>('ended');
  }

  hasEnded(): boolean {
    return existsSync(this.file('ended'));
  }

  /** Notes that the session has just written output. Clients see the time. It decides nothing. */
  noteActivity(): void {
    const now = performance.now();
    if (this.activeAt !== 0 && now - this.activeAt < ACTIVITY_EVERY_MS) return;
    this.activeAt = now;
    attempt(() => closeSync(openSync(join(this.launch, 'activity'), TOUCH, 0o600)));
  }

  activityAt(): Date | undefined {
    try {
      return statSync(join(this.launch, 'activity')).mtime;
    } catch {
      return undefined;
    }
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

  // Writes through a rename, so that a reader finds the whole file or none.
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
  return [...new Set(namesIn(dir).map((name) => name.replace(/^\./, '')))];
}

/**
 * Removes the folder of the attempt last: without it nobody would look for the rest of the session.
 */
export async function removeFolder(dir: string, id: string): Promise<void> {
  await removeTree(join(dir, id));
  await removeTree(attemptsOf(dir, id));
}

/** A folder beside the session's own one: the session must not be able to replace an attempt. */
function attemptsOf(dir: string, id: string): string {
  return join(dir, `.${id}`);
}

function launchesIn(folder: string): string[] {
  const names = namesIn(folder).filter((name) => name.startsWith(LAUNCH_PREFIX));
  return names.map((name) => join(folder, name));
}

function attempt(write: () => void): void {
  try {
    write();
  } catch {
    // The disk is full, or the folder was removed.
  }
}

/** It changes with each boot of the machine. It is empty if the system does not report it. */
export function bootId(): string {
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
