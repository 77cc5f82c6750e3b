import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readProcess } from '#lib/session-runtime';
import type { Processes } from './home.js';

/** The supervisor gives its slowest program, a worker, 25 s, and then kills it. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;

/**
 * Tells whether the processes are a running start. On Linux, later processes with the same ids do
 * not count.
 */
export function areRunning(processes: Processes): boolean {
  const { main, supervisor } = processes;
  const belong = process.platform !== 'linux' || readProcess(supervisor)?.parent === main;
  return belong && mainLives(processes) && supervisorLives(processes);
}

export function mainLives({ main }: Processes): boolean {
  return isAlive(main, 'start', 'drover-server');
}

/** Tells whether the supervisor lives. It outlives its parent while it stops the children. */
export function supervisorLives({ supervisor }: Processes): boolean {
  return isAlive(supervisor, 'supervisor-process');
}

/**
 * @param patienceMs by default a minute, longer than any orderly end with a deadline
 * @returns false if it is unchanged after this time
 */
export async function untilNot(isSo: () => boolean, patienceMs = PATIENCE_MS): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (isSo()) {
    if (performance.now() > deadline) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}

/**
 * Tells whether the process lives, and on Linux also whether its command line still contains one
 * of the words.
 */
function isAlive(pid: number, ...words: string[]): boolean {
  if (process.platform !== 'linux') return canBeSignalled(pid);
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return words.some((word) => line.includes(word));
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
