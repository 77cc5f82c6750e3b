import { readdirSync, readFileSync } from 'node:fs';

/** The living processes with one of these words in their command line, found without the code under test. */
export function processesWith(...words: string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).some((word) => words.includes(word)))
    .map(Number);
}

// The command line of a zombie is empty.
function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

const marks: string[] = [];

/** Seconds to sleep that no other process sleeps: a mark in its command line. */
export function uniqueSeconds(): string {
  const mark = `${100_000 + (process.pid % 30_000)}.${marks.length + 1}`;
  marks.push(mark);
  return mark;
}

/** After a failed test: a process that should be dead must not outlive the test. */
export function killMarked(): void {
  for (const pid of processesWith(...marks)) process.kill(pid, 'SIGKILL');
}
