import { execFile } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isOutOfQuota, newId } from '#lib/kernel';
import { findExecutable } from '../process/find-executable.js';
import { removeTree } from '../files/remove-tree.js';
import { isKnownProcessor } from './seccomp.js';

/** The file system of the sessions' folders can limit each of them. Only btrfs is known. */
export interface FolderQuotas {
  /** The file of `btrfs`, of btrfs-progs. */
  program: string;
}

/** The quota of one folder. */
export interface FolderQuota extends FolderQuotas {
  mb: number;
}

const BTRFS_MAGIC = 0x9123_683e;
/** The inode number of the top folder of each subvolume. */
const TOP_INODE = 256;
const SYSTEM_PATH = '/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin';
const WITHIN_MS = 30_000;
/** The kernel refuses a file somewhat before the limit. */
const FULL_BYTES = 128 * 1024;
const MIB = 1_048_576;

const execute = promisify(execFile);

/**
 * Looks for quotas by a trial: it writes more into a folder than the folder's limit.
 *
 * @param dir the folder that gets a folder for each session
 * @returns the reason if there are none, in a clause for the log
 */
export async function findQuotas(
  dir: string,
  searchPath: string,
): Promise<{ quotas: FolderQuotas } | { reason: string }> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if (statfsSync(dir).type !== BTRFS_MAGIC) return { reason: 'their file system is not btrfs' };
  } catch (error) {
    return { reason: lastLineOf(error) };
  }
  if (process.getuid?.() !== 0) return { reason: 'only root can set quotas' };
  // A session that makes subvolumes writes to folders that no quota covers. The filter refuses that.
  if (!isKnownProcessor(process.arch)) return { reason: 'this processor has no filter' };
  const program = findExecutable('btrfs', `${searchPath}:${SYSTEM_PATH}`);
  if (program === undefined) return { reason: '`btrfs` of btrfs-progs is not installed' };
  const quotas = { program };
  const path = join(dir, `trial-${newId()}`);
  try {
    await makeLimitable(quotas, path);
    await limitFolder({ ...quotas, mb: 1 }, path);
    await writeFile(join(path, 'fill'), Buffer.alloc(2 * MIB));
    return { reason: 'their file system enforces no quota' };
  } catch (error) {
    if (isOutOfQuota(error)) return { quotas };
    return { reason: lastLineOf(error) };
  } finally {
    await removeLimitable(quotas, path);
    await removeTree(path);
  }
}

/**
 * Makes a folder that can get a limit.
 *
 * @throws Error if it exists already, or if the file system refuses it
 */
export async function makeLimitable({ program }: FolderQuotas, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await run(program, 'subvolume', 'create', path);
}

/**
 * Limits the content of the folder. The kernel then refuses writes with EDQUOT.
 *
 * @throws Error if the file system has no quotas
 */
export async function limitFolder({ program, mb }: FolderQuota, path: string): Promise<void> {
  await run(program, 'qgroup', 'limit', String(mb * MIB), path);
}

/** True if the folder has no space left. Its file system writes all its data to the disk for that. */
export async function isFolderFull({ program, mb }: FolderQuota, path: string): Promise<boolean> {
  const shown = run(program, 'qgroup', 'show', '--raw', '--sync', '-f', path);
  const [, bytes] = /^0\/\d+\s+(\d+)/m.exec(await shown.catch(() => '')) ?? [];
  return bytes !== undefined && mb * MIB - Number(bytes) < FULL_BYTES;
}

/**
 * Removes a folder that `makeLimitable` made, with its quota group. Another folder stays. If it fails, a
 * removal of the content removes the folder, too.
 */
export async function removeLimitable({ program }: FolderQuotas, path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.ino !== TOP_INODE) return;
  try {
    const id = (await run(program, 'inspect-internal', 'rootid', path)).trim();
    await run(program, 'subvolume', 'delete', path);
    // Since 6.11 the kernel does that itself, and refuses it meanwhile.
    await run(program, 'qgroup', 'destroy', `0/${id}`, dirname(path));
  } catch {
    // The kernel removes the group, or an empty one stays, which limits nothing.
  }
}

async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { env: { LC_ALL: 'C' }, timeout: WITHIN_MS });
  return stdout;
}

function lastLineOf(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string };
  return (
    (stderr.trim() || message)
      .split('\n')
      .at(-1)
      ?.replace(/^ERROR: /, '') ?? ''
  );
}
