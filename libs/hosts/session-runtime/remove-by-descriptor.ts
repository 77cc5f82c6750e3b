import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, chown, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';

/** A name in it leads to the very folder that was opened, wherever that was moved. */
const DESCRIPTORS = '/proc/self/fd';

/** A folder that need not be readable, and no link to one. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** How often to begin again where a process of the same user puts back what was removed. */
const ATTEMPTS = 6;

/**
 * Removes a file, or a folder with all that is in it, and follows no link, whatever somebody puts in the
 * place of what was just looked at. Nothing that it holds is too deep. An absent path is no error.
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

/** @param clear empties a folder */
async function removeAt(path: string, clear: (folder: string) => Promise<void>): Promise<void> {
  const isFolder = await withFolder(path, clear);
  await (isFolder ? rmdir(path) : unlink(path)).catch(unlessGone);
}

/** @returns whether there is a folder, and not a link to one */
async function withFolder(path: string, work: (folder: string) => Promise<void>): Promise<boolean> {
  const handle = await open(path, FOLDER).catch(noFolder);
  if (handle === undefined) return false;
  try {
    const folder = `${DESCRIPTORS}/${handle.fd}`;
    await take(folder);
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

/** Folders are laid beside the one that they are in: they may be deeper than files can be open at once. */
async function spread(folder: string, top: string): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const path = `${folder}/${entry.name}`;
    const layBeside = (): Promise<void> => rename(path, `${top}/${randomUUID()}`);
    const isFolder = entry.isDirectory() && (await withFolder(path, layBeside));
    if (!isFolder) await unlink(path).catch(unlessGone);
  }
}

/** From here on nobody else can change what is in it. What cannot be done, the removal tells of. */
async function take(folder: string): Promise<void> {
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
