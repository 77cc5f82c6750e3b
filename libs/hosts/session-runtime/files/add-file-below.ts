import { constants } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { inFolder } from './folder-files.js';

/** The name must be free: the session can have left a link there. */
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Adds a file below a folder that a session can change. It follows no link, and the owner of the folder
 * gets the file.
 *
 * @param name a path relative to the folder. Missing folders are made
 * @param options `replaces`: a file or link of that name is replaced, in one moment
 * @throws Error if the name is taken, or a part of the path is no folder
 */
export async function addFileBelow(
  folder: string,
  name: string,
  content: string | Uint8Array,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<void> {
  const parts = name.split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part))) throw unusable(name);
  const file = parts.pop() ?? '';
  const { uid, gid } = await stat(folder);
  const handOver = async (path: string): Promise<void> => {
    if (process.geteuid?.() === 0) await chown(path, uid, gid);
  };
  const add = async (at: string): Promise<true> => {
    const [next] = parts.splice(0, 1);
    if (next === undefined) {
      const path = `${at}/${file}`;
      const draft = replaces ? `${at}/.${randomBytes(8).toString('hex')}.new` : path;
      const handle = await open(draft, NEW, 0o600);
      try {
        if (process.geteuid?.() === 0) await handle.chown(uid, gid);
        await handle.writeFile(content);
        if (replaces) await rename(draft, path);
      } catch (error) {
        if (replaces) await rm(draft, { force: true });
        throw error;
      } finally {
        await handle.close();
      }
      return true;
    }
    const isNew = await mkdir(`${at}/${next}`, 0o700).then(() => true, unlessTaken);
    const added = await inFolder(`${at}/${next}`, async (opened) => {
      if (isNew) await handOver(`${opened}/.`);
      return add(opened);
    });
    if (added === undefined) throw unusable(name);
    return added;
  };
  if ((await inFolder(folder, add)) === undefined) throw unusable(name);
}

function unlessTaken(error: NodeJS.ErrnoException): false {
  if (error.code === 'EEXIST') return false;
  throw error;
}

function unusable(name: string): Error {
  return new Error(`The session has no folder for ${name}`);
}
