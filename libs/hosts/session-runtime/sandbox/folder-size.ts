import { chmodSync, closeSync, constants, fstatSync, lstatSync, opendirSync } from 'node:fs';
import { openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { setImmediate as yieldToOthers } from 'node:timers/promises';

/** A name in it leads to the very folder that was opened, wherever that was moved. */
const DESCRIPTORS = '/proc/self/fd';
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The permissions that the owner of a folder needs to list it and to look at its files. */
const READABLE = 0o500;
const BLOCK = 512;
/** The least cost of a file: empty files and links take up the file system, too. */
const LEAST_COST = 4_096;
/** Files between two pauses for other work of this process. */
const FILES_AT_ONCE = 500;
/** Bounds of this process' own files and memory; a tree beyond them counts as too large. */
const MAX_OPEN = 128;
const MAX_WAITING = 50_000;
/** Files with several names that are told apart; each name of the others counts. */
const MAX_LINKED = 200_000;

export interface FolderQuestion {
  path: string;
  /** Bytes after which the answer is known. */
  most: number;
  /** Processes whose deleted files count as long as they are open. */
  pids: readonly number[];
}

interface OpenFolder {
  fd: number;
  /** Names of folders in it that were not visited. */
  waiting: string[];
  /** The mode of a folder that its owner has closed, and that is open for the measurement. */
  mode?: number;
}

/**
 * Adds up the blocks of all files below a folder. Nobody can lead it elsewhere: each folder is opened by
 * a descriptor of the one above, and no link is followed. It stays on one file system.
 *
 * @returns bytes, and Infinity for a tree that is too deep or too wide to be measured
 */
export async function measureFolder(question: FolderQuestion): Promise<number> {
  return new Measurement(question).run();
}

class Measurement {
  private bytes = 0;
  private files = 0;
  private waiting = 0;
  private device = -1;
  private readonly linked = new Set<number>();
  private readonly open: OpenFolder[] = [];

  constructor(private readonly question: FolderQuestion) {}

  async run(): Promise<number> {
    const { path, most, pids } = this.question;
    try {
      await this.enter(path);
      for (let at = this.open.at(-1); at !== undefined; at = this.open.at(-1)) {
        if (this.isTooLarge()) return Infinity;
        if (this.bytes > most) return this.bytes;
        await this.visitNext(at);
      }
      for (const pid of pids) await this.addDeleted(pid);
      return this.bytes;
    } finally {
      for (const folder of this.open) close(folder);
    }
  }

  private isTooLarge(): boolean {
    return this.open.length > MAX_OPEN || this.waiting > MAX_WAITING;
  }

  /** A folder without further folders is closed first, so a chain of folders can have any depth. */
  private async visitNext(at: OpenFolder): Promise<void> {
    const name = at.waiting.pop();
    if (name !== undefined) {
      this.waiting -= 1;
      await this.enter(`${DESCRIPTORS}/${at.fd}/${name}`);
    }
    if (at.waiting.length > 0) return;
    this.open.splice(this.open.indexOf(at), 1);
    close(at);
  }

  private async enter(path: string): Promise<void> {
    const fd = attempt(() => openSync(path, FOLDER));
    if (fd === undefined) return;
    const folder: OpenFolder = { fd, waiting: [] };
    this.open.push(folder);
    const stats = fstatSync(fd);
    if (this.device === -1) this.device = stats.dev;
    if (this.add(stats)) await this.list(folder, stats.mode);
  }

  private async list(folder: OpenFolder, mode: number): Promise<void> {
    const path = `${DESCRIPTORS}/${folder.fd}`;
    if ((mode & READABLE) !== READABLE) openToOwner(folder, mode);
    const entries = attempt(() => opendirSync(path));
    if (entries === undefined) return;
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        await this.note(folder, entry.name);
        if (this.isTooLarge() || this.bytes > this.question.most) return;
      }
    } catch {
      // The folder was removed meanwhile.
    } finally {
      entries.closeSync();
    }
  }

  private async note(folder: OpenFolder, name: string): Promise<void> {
    const stats = attempt(() => lstatSync(`${DESCRIPTORS}/${folder.fd}/${name}`));
    if (stats?.isDirectory() === true) {
      folder.waiting.push(name);
      this.waiting += 1;
    } else if (stats !== undefined) this.add(stats);
    await this.pauseAtTimes();
  }

  private async pauseAtTimes(): Promise<void> {
    this.files += 1;
    if (this.files % FILES_AT_ONCE === 0) await yieldToOthers();
  }

  /** @returns whether it lies on the same file system */
  private add({ dev, ino, nlink, blocks, ...stats }: Stats): boolean {
    if (dev !== this.device) return false;
    const isFolder = (stats.mode & constants.S_IFMT) === constants.S_IFDIR;
    if (nlink !== 1 && !isFolder) {
      if (this.linked.has(ino)) return true;
      if (this.linked.size < MAX_LINKED) this.linked.add(ino);
    }
    this.bytes += Math.max(blocks * BLOCK, LEAST_COST);
    return true;
  }

  private async addDeleted(pid: number): Promise<void> {
    const folder = `/proc/${pid}/fd`;
    for (const fd of attempt(() => readdirSync(folder)) ?? []) {
      const stats = attempt(() => statSync(`${folder}/${fd}`));
      if (stats?.nlink === 0 && stats.isFile()) this.add(stats);
      await this.pauseAtTimes();
    }
  }
}

/** Only its owner can do that. Root needs it, too, if it has no capabilities. */
function openToOwner(folder: OpenFolder, mode: number): void {
  folder.mode = mode;
  attempt(() => chmodSync(`${DESCRIPTORS}/${folder.fd}`, (mode | READABLE) & 0o7777));
}

/** Closes a folder to its owner again who had closed it. */
function close({ fd, mode }: OpenFolder): void {
  if (mode !== undefined) attempt(() => chmodSync(`${DESCRIPTORS}/${fd}`, mode & 0o7777));
  closeSync(fd);
}

/** @returns undefined for a file that is gone, or that this process cannot see */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
