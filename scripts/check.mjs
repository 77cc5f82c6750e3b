// The fast part of `npm test`: types, lint, formatting, dependency rules, generated files, unit
// tests.
import { ensureReady } from './ensure.mjs';
import { keptFolder } from './lib/kept.mjs';
import { isMain } from './lib/main.mjs';
import { runTogether } from './lib/steps.mjs';

/** Number of concurrent steps. */
const LANES = 2;

export const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/** Runs everything except the tests, together with the given steps, the longest first. */
export function check(...others) {
  return runTogether(LANES, [
    ...others,
    [
      'types and rules',
      'node_modules/oxlint/bin/oxlint',
      ['--type-check', '--type-aware', '--deny-warnings'],
    ],
    ['generated files', 'dist/tools/generate/main.js', ['--check']],
    [
      'dependencies',
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      [
        '--config',
        '.dependency-cruiser.cjs',
        '--output-type',
        'err',
        // Useful only while no file has changed. Otherwise all are checked again.
        '--cache',
        `${keptFolder()}/dependencies`,
        '--cache-strategy',
        'content',
        'apps',
        'libs',
        'tools',
        'test',
      ],
    ],
    ['format', 'node_modules/oxfmt/bin/oxfmt', ['--check']],
  ]);
}

if (isMain(import.meta.url)) {
  await ensureReady({ build: true });
  await check(['unit tests', ...JEST, ['--selectProjects', 'unit', '--maxWorkers', '2']]);
}
