import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readProcess } from '#lib/session-runtime';
import type { Processes } from './home.js';

/** A supervisor gives the longest of its programs, a worker, 25 s, and then kills it. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** Whether they are a start that runs, beyond confusion with later processes of their numbers (on Linux). */
export function areRunning(processes: Processes): boolean {
  const { main, supervisor } = processes;
  const belong = process.platform !== 'linux' || readProcess(supervisor)?.parent === main;
  return belong && mainLives(processes) && supervisorLives(processes);
}

export function mainLives({ main }: Processes): boolean {
  return isAlive(main, 'start');
}

/** Also after the end of its parent, for as long as it puts things down. */
export function supervisorLives({ supervisor }: Processes): boolean {
  return isAlive(supervisor, 'supervisor-process');
}

/** @returns false when it is still so after a minute, which is more than any orderly end needs */
export async function untilNot(isSo: () => boolean): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (isSo()) {
    if (performance.now() > deadline) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}

/** Whether the process lives, and on Linux also whether it is still the one that has the word in its command line. */
function isAlive(pid: number, word: string): boolean {
  if (process.platform !== 'linux') return canBeSignalled(pid);
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
  } catch {
    return false;
  }
}

function canBeSignalled(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
