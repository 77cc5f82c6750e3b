import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';

/** A supervisor gives the longest of its programs, a worker, 25 s, and then kills it. */
const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits for what an earlier start has left behind that was ended by force: its supervisor still puts down the
 * server, the workers and the database, and the port and the data are theirs until then.
 *
 * @throws Sentence when that does not end
 */
export async function previousGone(home: Home, tell: (line: string) => void): Promise<void> {
  const { processes } = home;
  // A live one says itself where it is; see running.ts.
  if (processes === undefined || isAlive(processes.main, 'start')) return;
  const { supervisor } = processes;
  const left = (): boolean => isAlive(supervisor, 'supervisor-process');
  if (!left()) return;
  tell(
    `The last start in ${home.folder} was ended by force: waiting until all that it left has ended.`,
  );
  const deadline = performance.now() + PATIENCE_MS;
  while (left()) {
    if (performance.now() > deadline) throw new Sentence(stillThere(home, supervisor));
    await delay(LOOK_EVERY_MS);
  }
}

function stillThere(home: Home, pid: number): string {
  return `Process ${pid} of the last start in ${home.folder} does not end: end it (\`kill -9 ${pid}\`), then start again.`;
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
