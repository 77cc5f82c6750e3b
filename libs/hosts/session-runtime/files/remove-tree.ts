import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeByDescriptor } from './remove-by-descriptor.js';

const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 };

/**
 * Removes a file, or a folder with its content, and read-only folders too, such as Go's module
 * cache. An absent path is no error. On Linux nobody can redirect it by replacing a folder with a
 * link, provided that the parent folder does not belong to them.
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

// Follows no link. Skips a folder that cannot be opened: the removal reports why it failed.
async function openFolder(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (!found.isDirectory()) return;
    await chmod(path, (found.mode & 0o7777) | 0o700);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await openFolder(join(path, entry.name));
    }
  } catch {
    // The folder belongs to another user, or is gone.
  }
}
