import { readlinkSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import { isAlive, ownRef, type ProcessRef } from './process-tree.js';

/** The file in a folder that names the process for which it exists. */
const OWNER = 'owner.json';
/** Nobody here sees the processes of another container: its folders are abandoned after this time. */
const FOREIGN_MS = 30 * 86_400_000;
/** A process that was killed while it made or removed a folder can leave it without an owner. */
const OWNERLESS_MS = 86_400_000;
const MAX_OWNER_BYTES = 4_096;

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

export interface AbandonedOptions {
  /** The start of the names of the folders. */
  prefix?: string;
  /** True: only owned folders have such names, so one without an owner is abandoned after a day. */
  areAllOwned?: boolean;
  /** Removes what belongs to the folder. */
  before?: (name: string) => Promise<void>;
  /** Gets the failure of one folder. The others are removed. */
  onFailure: (error: unknown, folder: string) => void;
  signal: AbortSignal;
}

/**
 * Removes the owned folders below a folder whose process is gone, for instance killed. It leaves
 * those of other users. Never rejects.
 */
export async function removeAbandoned(parent: string, options: AbandonedOptions): Promise<void> {
  const { prefix = '', areAllOwned = false, before, onFailure, signal } = options;
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    if (signal.aborted) return;
    const folder = join(parent, name);
    try {
      if (!(await isAbandoned(folder, areAllOwned))) continue;
      await before?.(name);
      await removeTree(folder);
    } catch (error) {
      onFailure(error, folder);
    }
  }
}

async function isAbandoned(folder: string, isOwned: boolean): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true || found.uid !== (process.getuid?.() ?? found.uid))
    return false;
  const path = join(folder, OWNER);
  const file = await readRegularFile(path, MAX_OWNER_BYTES);
  const owner = file.kind === 'text' ? toOwner(file.text) : undefined;
  if (owner === undefined) return isOwned && Date.now() - found.mtimeMs > OWNERLESS_MS;
  if (owner.namespace === namespace()) return !isAlive(owner);
  return Date.now() - (await lstat(path)).mtimeMs > FOREIGN_MS;
}

function toOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
