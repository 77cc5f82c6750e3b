import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, chown, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';

/** A name in it leads to the opened folder itself, even after a rename. */
const DESCRIPTORS = '/proc/self/fd';

/** A folder that can be unreadable, but no link to a folder. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The number of attempts while a process of the same user recreates removed files. */
const ATTEMPTS = 6;

/**
 * Removes a file, or a folder with its content. It follows no link, even if a process replaces a
 * path that was just checked. The depth of the content has no limit. An absent path is no error.
 */
export async function removeByDescriptor(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await removeAt(path, empty);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['ENOTEMPTY', 'ENOTDIR', 'EISDIR'].includes(code) || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * @param clear empties a folder
 */
async function removeAt(path: string, clear: (folder: string) => Promise<void>): Promise<void> {
  const isFolder = await withFolder(path, clear);
  await (isFolder ? rmdir(path) : unlink(path)).catch(unlessGone);
}

/**
 * @returns true if there is a folder, and not a link to one
 */
async function withFolder(path: string, work: (folder: string) => Promise<void>): Promise<boolean> {
  const handle = await open(path, FOLDER).catch(noFolder);
  if (handle === undefined) return false;
  try {
    const folder = `${DESCRIPTORS}/${handle.fd}`;
    await takeOwnership(folder);
    await work(folder);
    return true;
  } finally {
    await handle.close();
  }
}

async function empty(top: string): Promise<void> {
  for (let found = true; found;) {
    found = false;
    for await (const { name } of await opendir(top)) {
      found = true;
      await removeAt(`${top}/${name}`, (folder) => spread(folder, top));
    }
  }
}

/** Moves folders beside their parent: they can be deeper than the limit of open files. */
async function spread(folder: string, top: string): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const path = `${folder}/${entry.name}`;
    const layBeside = (): Promise<void> => rename(path, `${top}/${randomUUID()}`);
    const isFolder = entry.isDirectory() && (await withFolder(path, layBeside));
    if (!isFolder) await unlink(path).catch(unlessGone);
  }
}

/** Stops everybody else from changing the content. If this fails, the removal reports it. */
async function takeOwnership(folder: string): Promise<void> {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  if (uid === 0) await chown(folder, uid, gid).catch(() => undefined);
  await chmod(folder, 0o700).catch(() => undefined);
}

function noFolder(error: NodeJS.ErrnoException): undefined {
  if (!['ENOTDIR', 'ELOOP', 'ENOENT'].includes(error.code ?? '')) throw error;
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
