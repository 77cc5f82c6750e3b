import { expect, it } from '@jest/globals';
import { join } from 'node:path';

const module = join(import.meta.dirname, '../../scripts/lib/changed.mjs');
const { specsWithoutImport } = (await import(module)) as {
  specsWithoutImport(changed: string[], specs: string[]): string[];
};

const UNIT = 'libs/platform/kernel/values/ids.spec.ts';
const DOCS = 'test/docs/links.spec.ts';
const ARCHITECTURE = 'test/architecture/sql.spec.ts';
const E2E = 'test/e2e/start.e2e-spec.ts';
const LOAD = 'test/faults/pool.load-spec.ts';
const ALL = [UNIT, DOCS, ARCHITECTURE, E2E, LOAD];

it.each([
  ['a source', 'libs/work/runs/signals.ts', [ARCHITECTURE, E2E, LOAD]],
  ['a page of the dashboard', 'apps/dashboard/main.tsx', [ARCHITECTURE, E2E, LOAD]],
  ['a migration', 'prisma/migrations/1/migration.sql', ALL],
  ['a package', 'package-lock.json', ALL],
  ['a page of the docs', 'docs/cli.md', [DOCS, ARCHITECTURE]],
  ['a script', 'scripts/start.mjs', [DOCS, ARCHITECTURE, E2E, LOAD]],
  ['the harness of faults', 'test/faults/harness/load.ts', [ARCHITECTURE, LOAD]],
  ['a spec', 'libs/work/runs/signals.int-spec.ts', []],
])('%s reaches specs that do not import it', (_, changed, reached) => {
  expect(specsWithoutImport([changed], ALL)).toEqual(reached);
});
