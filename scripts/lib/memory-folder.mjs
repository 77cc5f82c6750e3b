import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const GIB = 1024 ** 3;
const MEMORY = '/dev/shm';
/** The files of a whole run take 2 GiB at once. */
const NEEDED_BYTES = 3 * GIB;
/** The files, and the programs under test. */
const NEEDED_MEMORY_BYTES = 10 * GIB;

/**
 * Makes a folder in memory for temporary files, with the rights of /tmp. Tests create and remove a
 * million files, and a file system on a disk searches longer for a free place after each removal.
 *
 * @returns undefined if the machine has too little memory, or forbids files or programs there
 */
export async function makeMemoryFolder() {
  let folder;
  try {
    const prefix = prefixOfNames();
    await removeFoldersOfKilledRuns(prefix);
    if (!hasRoom()) return undefined;
    folder = mkdtempSync(join(MEMORY, `${prefix}${process.pid}-`));
    chmodSync(folder, 0o1777);
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    if (spawnSync(program).status === 0) return folder;
  } catch {
    // Tests also run in a folder on a disk.
  }
  if (folder !== undefined) await removeFolder(folder);
  return undefined;
}

/** Says so, and goes on, if something is mounted there: the result of the tests matters more. */
export async function removeFolder(folder) {
  try {
    // Servers that end can still write.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    process.stderr.write(`Cannot remove ${folder} of a test run: ${error.message}\n`);
  }
}

/** The limit of the file system does not count what programs use. */
function hasRoom() {
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= NEEDED_BYTES && process.availableMemory() >= NEEDED_MEMORY_BYTES;
}

/**
 * Names the space of process ids, because two containers can share the memory and number alike. The
 * folder of a killed container stays.
 */
function prefixOfNames() {
  const [space] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) ?? [];
  return `drover-tests-${space}-`;
}

async function removeFoldersOfKilledRuns(prefix) {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length).split('-')[0] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await removeFolder(join(MEMORY, name));
  }
}
