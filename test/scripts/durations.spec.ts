import { afterAll, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
const { LONGER_THAN_THEIR_SIZE, spreadByLength } = (await import(
  join(support, 'sequencer.mjs')
)) as {
  LONGER_THAN_THEIR_SIZE: Seconds;
  spreadByLength(tests: Test[], seconds: Seconds): Test[];
};
const { default: Reporter } = (await import(join(support, 'durations-reporter.mjs'))) as {
  default: new (config: { rootDir: string }) => {
    seconds: Seconds;
    onTestResult(
      test: object,
      result: { testFilePath: string; perfStats: { start: number; end: number } },
    ): void;
  };
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

function testOf(name: string, { size = 1, project = 'unit' }): Test {
  const path = join(folder, name);
  writeFileSync(path, 'x'.repeat(size));
  return { path, context: { config: { rootDir: folder, displayName: { name: project } } } };
}

function order(tests: Test[], seconds: Seconds): (string | undefined)[] {
  return spreadByLength(tests, seconds).map(({ path }) => path.split('/').at(-1));
}

it('the longest files come first, and new ones by their size', () => {
  const tests = [
    testOf('short', { size: 9_000 }),
    testOf('new', { size: 4_000 }),
    testOf('long', { size: 10 }),
  ];
  expect(order(tests, { short: 1, long: 50 })).toEqual(['long', 'new', 'short']);
});

it('files that start thousands of programs come first', () => {
  const path = join(folder, 'apps/worker/code/code.int-spec.ts');
  const forking = { ...testOf('short', {}), path };
  expect(order([testOf('long', {}), forking], { long: 50 })).toEqual(['code.int-spec.ts', 'long']);
});

it('in a fresh clone, long files do not start last because they are small', () => {
  const root = join(support, '../..');
  const config = { rootDir: root, displayName: { name: 'faults' } };
  const [postgres, budgets] = ['postgres.fault-spec.ts', 'budgets/budgets.fault-spec.ts'].map(
    (name) => ({ path: join(root, 'test/faults', name), context: { config } }),
  );
  expect(spreadByLength([budgets!, postgres!], {})).toEqual([postgres, budgets]);
});

it('each file with known seconds exists', () => {
  const root = join(support, '../..');
  const paths = Object.keys(LONGER_THAN_THEIR_SIZE);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

it('a file that could not be loaded keeps its seconds', () => {
  const reporter = new Reporter({ rootDir: folder });
  const measure = (start: number, end: number) => {
    reporter.onTestResult({}, { testFilePath: join(folder, 'a'), perfStats: { start, end } });
    return reporter.seconds['a'];
  };
  expect([measure(0, 0), measure(5_000, 0), measure(5_000, 7_000)]).toEqual([
    undefined,
    undefined,
    2,
  ]);
});

it('the files of each project are spread over the run', () => {
  const ends = ['end-9', 'end-6', 'end-5'].map((name) => testOf(name, { project: 'e2e' }));
  const ints = ['int-4', 'int-3', 'int-2', 'int-1'].map((name) => testOf(name, {}));
  const seconds = Object.fromEntries(
    [...ends, ...ints].map(({ path }) => [path.split('/').at(-1), Number(path.at(-1))]),
  );
  expect(order([...ints, ...ends], seconds)).toEqual([
    'end-9',
    'int-4',
    'int-3',
    'end-6',
    'int-2',
    'end-5',
    'int-1',
  ]);
});
