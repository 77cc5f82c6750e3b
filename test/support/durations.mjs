import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const FILE = join(root, '.cache', 'test-seconds.json');

/** Reads the duration of each file's latest run in seconds by file; empty before the first run. */
export function readSeconds(file = FILE) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Replaces the seconds of some files, and forgets files that no longer exist. */
export function keepSeconds(measured, file = FILE) {
  const all = { ...readSeconds(file), ...measured };
  const existing = Object.entries(all).filter(([path]) => existsSync(join(root, path)));
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, `${JSON.stringify(Object.fromEntries(existing.sort()), null, 1)}\n`);
  renameSync(draft, file);
}
