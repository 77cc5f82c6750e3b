import { readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../files/remove-tree.js';
import { isAlive, ownRef, type ProcessRef } from './process-tree.js';

/** The file in a folder that names the process for which it exists. */
const OWNER = 'owner.json';
/** Nobody here sees the processes of another container: its folders are abandoned after this time. */
const FOREIGN_MS = 30 * 86_400_000;

interface Owner extends ProcessRef {
  /** The namespace in which its id counts. */
  namespace: string;
}

/** Makes a folder that exists for this process. `removeAbandoned` removes it if the process is killed. */
export async function makeOwned(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const owner: Owner = { ...ownRef(), namespace: namespace() };
  await writeFile(join(folder, OWNER), JSON.stringify(owner), { mode: 0o600 });
}

/** Makes an owned folder for temporary files, which only the user of this process can enter. */
export async function makeOwnedTemporary(kind: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `drover-${kind}-`));
  await makeOwned(folder);
  return folder;
}

/**
 * Removes the owned folders below a folder whose process is gone, for instance killed. It leaves
 * folders without an owner, and those of other users.
 *
 * @param prefix of the names of the folders
 */
export async function removeAbandoned(parent: string, prefix = ''): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const folder = join(parent, name);
    if (await isAbandoned(folder)) await removeTree(folder);
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  const file = join(folder, OWNER);
  try {
    const owner = JSON.parse(await readFile(file, 'utf8')) as Owner;
    if (owner.namespace === namespace()) return !isAlive(owner);
    return Date.now() - (await stat(file)).mtimeMs > FOREIGN_MS;
  } catch {
    return false;
  }
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
