import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Seconds = Record<string, number>;
interface Test {
  path: string;
  context: { config: { rootDir: string; displayName?: { name: string } } };
}

const support = join(import.meta.dirname, '../support');
const { keepSeconds, readSeconds } = (await import(join(support, 'durations.mjs'))) as {
  keepSeconds(measured: Seconds, file: string): void;
  readSeconds(file: string): Seconds;
};
const { byLength } = (await import(join(support, 'sequencer.mjs'))) as {
  byLength(tests: Test[], seconds: Seconds): Test[];
};

const folder = mkdtempSync(join(tmpdir(), 'drover-durations-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('seconds of a run replace those of its files, and of no others', () => {
  const file = join(folder, 'below', 'seconds.json');
  expect(readSeconds(file)).toEqual({});
  keepSeconds({ 'README.md': 2, 'package.json': 3, 'removed.spec.ts': 4 }, file);
  keepSeconds({ 'README.md': 5 }, file);
  expect(readSeconds(file)).toEqual({ 'README.md': 5, 'package.json': 3 });
});

it('the longest files come first, and new ones by their size', () => {
  const testOf = (name: string, size: number, project = 'unit'): Test => {
    const path = join(folder, name);
    writeFileSync(path, 'x'.repeat(size));
    return { path, context: { config: { rootDir: folder, displayName: { name: project } } } };
  };
  const tests = [
    testOf('short', 9_000),
    testOf('new', 4_000),
    testOf('new-e2e', 4_000, 'e2e'),
    testOf('long', 10),
  ];
  const names = byLength(tests, { short: 1, long: 50 }).map(({ path }) => path.split('/').at(-1));
  expect(names).toEqual(['long', 'new-e2e', 'new', 'short']);
});
