import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir } from 'node:fs/promises';
import { dirname } from 'node:path';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The depth of folders that are searched. */
const MAX_DEPTH = 32;
/** The number of names that are looked at. */
const MAX_NAMES = 50_000;
/** In bytes. */
const COPIED_AT_ONCE = 65_536;

/** The regular files below a folder. */
export interface FilesBelow {
  /** Paths relative to the folder, sorted, with `/` between their parts. */
  names: string[];
  /** Whether there are more files, or deeper ones, than were listed. */
  isCut: boolean;
}

export interface FileSearch {
  /** Whether a name, relative to the folder, is left out with everything below it. */
  leaveOut?: (name: string) => boolean;
  /** Maximum number of files. */
  most: number;
}

/**
 * Lists the regular files below a folder that a session can change. It follows no link: each folder
 * is opened in the one above. An absent folder, or a link in its place, has no files.
 */
export async function listFilesBelow(folder: string, search: FileSearch): Promise<FilesBelow> {
  const found: FilesBelow = { names: [], isCut: false };
  const budget = { names: MAX_NAMES };
  await inFolder(folder, (top) => list(top, '', 0));
  found.names.sort();
  return found;

  async function list(at: string, prefix: string, depth: number): Promise<void> {
    const entries = await opendir(at).catch(() => undefined);
    for await (const entry of entries ?? []) {
      const name = prefix + entry.name;
      if (search.leaveOut?.(name)) continue;
      if (budget.names-- === 0 || found.names.length === search.most) found.isCut = true;
      if (found.isCut) return;
      if (entry.isFile()) found.names.push(name);
      else if (!entry.isDirectory()) continue;
      else if (depth === MAX_DEPTH) found.isCut = true;
      else await inFolder(`${at}/${entry.name}`, (next) => list(next, `${name}/`, depth + 1));
    }
  }
}

/** The content of a file, or the reason why nobody reads it. */
export type FileBelow =
  | {
      kind: 'bytes';
      bytes: Buffer;
      /** Its owner can execute it. */
      isExecutable: boolean;
      /** Another text after each change of the file, within the precision of the file system's time. */
      mark: string;
    }
  | Unusable;

interface Unusable {
  kind: 'unusable';
  why: string;
}

/**
 * Reads a file below a folder that a session can change. No part of the path can be a link. A file
 * with further names is refused, because it can be another user's.
 *
 * @param name as `listFilesBelow` returned it
 */
export function readFileBelow(folder: string, name: string, maxBytes: number): Promise<FileBelow> {
  return withFileBelow(folder, { name, maxBytes }, async (file, stats) => {
    const bytes = await readBytes(file, Number(stats.size));
    return { kind: 'bytes', bytes, isExecutable: canExecute(stats), mark: markOf(stats) };
  });
}

/**
 * Copies a file below a folder that a session can change, as `readFileBelow` reads it. It holds 64 KiB
 * in memory.
 *
 * @param to a path in a folder that no session can change. Missing folders are made
 * @returns its size in bytes; unusable if another file, or its folder, is in the way
 */
export function copyFileBelow(
  folder: string,
  name: string,
  { to, maxBytes }: { to: string; maxBytes: number },
): Promise<{ kind: 'copied'; size: number } | Unusable> {
  return withFileBelow(folder, { name, maxBytes }, async (file, stats) => {
    const copy = await create(to, canExecute(stats) ? 0o700 : 0o600);
    if ('kind' in copy) return copy;
    try {
      return { kind: 'copied', size: await copyBytes(file, copy, Number(stats.size)) };
    } finally {
      await copy.close();
    }
  });
}

/** The session chose the names, so a path that cannot be is no failure of the host. */
async function create(path: string, mode: number): Promise<FileHandle | Unusable> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await open(path, 'wx', mode);
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EEXIST':
      case 'ENOTDIR':
      case 'EISDIR':
        return unusable('is in the way of another file');
      case 'ENAMETOOLONG':
        return unusable('has too long a path');
      default:
        throw error;
    }
  }
}

async function withFileBelow<T>(
  folder: string,
  { name, maxBytes }: { name: string; maxBytes: number },
  work: (file: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T | Unusable> {
  const parts = name.split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part))) return unusable('has no plain path');
  const last = parts.pop() ?? '';
  const find = (at: string): Promise<T | Unusable | undefined> => {
    const [next] = parts.splice(0, 1);
    return next === undefined
      ? withFile(`${at}/${last}`, maxBytes, work)
      : inFolder(`${at}/${next}`, find);
  };
  return (await inFolder(folder, find)) ?? unusable('is gone');
}

/** The mark of a file, as `readFileBelow` returns it. Undefined if nobody can read it. */
export async function markFileBelow(folder: string, name: string): Promise<string | undefined> {
  const parts = name.split('/');
  const file = parts.pop() ?? '';
  const look = async (at: string): Promise<string | undefined> => {
    const [next] = parts.splice(0, 1);
    if (next !== undefined) return inFolder(`${at}/${next}`, look);
    const stats = await lstat(`${at}/${file}`, { bigint: true }).catch(() => undefined);
    return stats?.isFile() ? markOf(stats) : undefined;
  };
  return inFolder(folder, look);
}

function markOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}

function canExecute({ mode }: BigIntStats): boolean {
  return (mode & 0o100n) !== 0n;
}

async function withFile<T>(
  path: string,
  maxBytes: number,
  work: (file: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T | Unusable> {
  const file = await open(path, FILE).catch(() => undefined);
  if (file === undefined) return unusable('is gone, or cannot be read');
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) return unusable('is no regular file');
    if (stats.nlink !== 1n) return unusable('has several names');
    if (stats.size > maxBytes) return unusable(`has more than ${maxBytes} bytes`);
    return await work(file, stats);
  } finally {
    await file.close();
  }
}

async function readBytes(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    ({ bytesRead: read } = await file.read(bytes, length));
  }
  return bytes.subarray(0, length);
}

/** The file can grow meanwhile. */
async function copyBytes(file: FileHandle, copy: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(COPIED_AT_ONCE);
  let copied = 0;
  for (let read = -1; read !== 0 && copied < size; copied += read) {
    const most = Math.min(chunk.length, size - copied);
    ({ bytesRead: read } = await file.read(chunk, 0, most));
    await copy.writeFile(chunk.subarray(0, read));
  }
  return copied;
}

/** @returns undefined if there is no such folder, or a link in its place */
export async function inFolder<T>(
  path: string,
  work: (folder: string) => Promise<T>,
): Promise<T | undefined> {
  const handle = await open(path, FOLDER).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    // A name in it leads to the opened folder itself, even after a rename.
    return await work(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path);
  } finally {
    await handle.close();
  }
}

function unusable(why: string): Unusable {
  return { kind: 'unusable', why };
}
