import { existsSync, readFileSync } from 'node:fs';
import { waitFor } from './wait-for.js';

/**
 * The numbers of the line that a task's program has written into a file. A file that is just being
 * written is seen empty or cut off: a mark counts when its line has its end.
 */
export function numbersIn(file: string): number[] | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return text.endsWith('\n') ? text.trim().split(' ').map(Number) : undefined;
}

/** Waits for a mark whose first number, the process id, is not that of an earlier process. */
export function nextMark(file: string, earlierPid?: number): Promise<number[]> {
  return waitFor(`a mark in ${file}`, () => {
    const numbers = numbersIn(file);
    return numbers?.[0] !== earlierPid && numbers;
  });
}
