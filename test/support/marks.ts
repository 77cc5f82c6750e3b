import { existsSync, readFileSync } from 'node:fs';
import { waitFor } from './wait-for.js';

/**
 * Returns the numbers on the line that a task's program has written into a file. A partly written
 * file looks empty or cut off, so a mark counts only with the end of its line.
 */
export function numbersIn(file: string): number[] | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return text.endsWith('\n') ? text.trim().split(' ').map(Number) : undefined;
}

/** Waits for a mark whose first number, the process id, differs from an earlier process. */
export function nextMark(file: string, earlierPid?: number): Promise<number[]> {
  return waitFor(`a mark in ${file}`, () => {
    const numbers = numbersIn(file);
    return numbers?.[0] !== earlierPid && numbers;
  });
}
