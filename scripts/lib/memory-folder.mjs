import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** The files of a whole run take 2 GiB at once. The rest is for the programs under test. */
const NEEDED_BYTES = 12 * 1024 ** 3;

/**
 * Makes a folder in memory for temporary files, with the rights of /tmp. Tests create and remove a
 * million files, and a file system on a disk searches longer for a free place after each removal.
 *
 * @returns undefined if the machine has too little memory, or forbids programs there
 */
export function makeMemoryFolder() {
  if (!existsSync(MEMORY)) return undefined;
  const prefix = prefixOfNames();
  removeFoldersOfKilledRuns(prefix);
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < NEEDED_BYTES) return undefined;
  const folder = mkdtempSync(join(MEMORY, `${prefix}${process.pid}-`));
  chmodSync(folder, 0o1777);
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  if (spawnSync(program).status === 0) return folder;
  removeFolder(folder);
  return undefined;
}

/** Says so, and goes on, if something is mounted there: the result of the tests matters more. */
export function removeFolder(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`Cannot remove ${folder} of a test run: ${error.message}\n`);
  }
}

/** Names the space of process ids: two containers can share the memory, and number alike. */
function prefixOfNames() {
  const [space] = /\d+/.exec(readlinkSync('/proc/self/ns/pid')) ?? [];
  return `drover-tests-${space}-`;
}

function removeFoldersOfKilledRuns(prefix) {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(prefix) ? name.slice(prefix.length).split('-')[0] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    removeFolder(join(MEMORY, name));
  }
}
