import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeByDescriptor } from './remove-by-descriptor.js';

const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };

/**
 * Removes a file, or a folder with all that is in it; folders that were closed against writing too, as Go
 * leaves those of its module cache. An absent path is no error. On Linux nobody can lead it elsewhere by
 * putting a link in the place of a folder meanwhile, provided that the folder above is not theirs.
 */
export async function removeTree(path: string): Promise<void> {
  return process.platform === 'linux' ? removeByDescriptor(path) : removeByPath(path);
}

async function removeByPath(path: string): Promise<void> {
  try {
    await rm(path, OPTIONS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    await openFolder(path);
    await rm(path, OPTIONS);
  }
}

// Follows no link. A folder that cannot be opened is passed over: the removal says why it failed.
async function openFolder(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (!found.isDirectory()) return;
    await chmod(path, (found.mode & 0o7777) | 0o700);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await openFolder(join(path, entry.name));
    }
  } catch {
    // Somebody else's, or gone meanwhile.
  }
}
