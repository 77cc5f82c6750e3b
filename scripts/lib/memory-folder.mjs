import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Followed by the process id of its run. */
const NAME = 'drover-tests-';
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
  removeFoldersOfKilledRuns();
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < NEEDED_BYTES) return undefined;
  const folder = mkdtempSync(join(MEMORY, `${NAME}${process.pid}-`));
  chmodSync(folder, 0o1777);
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  if (spawnSync(program).status === 0) return folder;
  rmSync(folder, { recursive: true });
  return undefined;
}

function removeFoldersOfKilledRuns() {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(NAME) ? name.slice(NAME.length).split('-')[0] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}
