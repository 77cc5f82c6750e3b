import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from './follow.js';

/** The attempts of the hashing task, according to their journals. */
export interface ResumeProof {
  files: number;
  /** Files that the killed attempt hashed. */
  beforeKill: number;
  /** The number of these that the next attempt's checkpoint covers. */
  resumedAfter: number;
  /** Files that the later attempts hashed. */
  afterKill: number;
  /** Files that the checkpoint covers and that were hashed again. Must be 0. */
  repeatedInVain: number;
  /** Files hashed after the last checkpoint and before the kill, so correctly repeated. */
  repeatedRightly: number;
  holds: boolean;
}

/**
 * @param folder where the jobs store their results
 */
export function proveResumed(folder: string, task: Task): ResumeProof {
  const journal = (attempt: number): string[] => {
    const path = join(folder, `hash.journal.${attempt}`);
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  };
  const first = journal(1);
  const later = Array.from({ length: task.generation - 1 }, (_, index) =>
    journal(index + 2),
  ).flat();
  const result = JSON.parse(readFileSync(join(folder, 'hash.json'), 'utf8')) as {
    files: number;
    resumedAfter: number;
  };
  const { files, resumedAfter } = result;
  const covered = new Set(first.slice(0, resumedAfter));
  const uncovered = new Set(first.slice(resumedAfter));
  const repeatedInVain = later.filter((path) => covered.has(path)).length;
  const repeatedRightly = later.filter((path) => uncovered.has(path)).length;
  const whole =
    new Set([...first, ...later]).size === files && resumedAfter + later.length === files;
  return {
    files,
    beforeKill: first.length,
    resumedAfter,
    afterKill: later.length,
    repeatedInVain,
    repeatedRightly,
    holds: resumedAfter > 0 && repeatedInVain === 0 && whole,
  };
}
