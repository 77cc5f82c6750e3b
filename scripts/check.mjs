// The fast part of `npm test`: types, lint, formatting, dependency rules, generated files, unit tests.
import { ensureReady } from './ensure.mjs';
import { keptFolder } from './lib/kept.mjs';
import { isMain } from './lib/main.mjs';
import { runTogether } from './lib/steps.mjs';

/** How many steps run at once. */
const LANES = 2;

export const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

/**
 * Runs all but the tests, and beside them such steps as are given; the longest comes first. Whatever is kept of a run
 * for the next is kept by the content of files, and only where no other file has a say in the result.
 */
export function check(...others) {
  const kept = keptFolder();
  const cache = (name) => [
    '--cache',
    '--cache-strategy',
    'content',
    '--cache-location',
    `${kept}/${name}`,
  ];
  return runTogether(LANES, [
    ...others,
    [
      'types',
      'node_modules/oxlint/bin/oxlint',
      ['--type-check', '--type-aware', '--deny-warnings'],
    ],
    ['generated files', 'dist/tools/generate/main.js', ['--check']],
    ['lint', 'node_modules/eslint/bin/eslint.js', ['.', '--max-warnings', '0', ...cache('eslint')]],
    [
      'dependencies',
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      [
        '--config',
        '.dependency-cruiser.cjs',
        '--output-type',
        'err',
        // Of use only while no file has changed: then all are looked at again.
        '--cache',
        `${kept}/dependencies`,
        '--cache-strategy',
        'content',
        'apps',
        'libs',
        'tools',
        'test',
      ],
    ],
    [
      'format',
      'node_modules/prettier/bin/prettier.cjs',
      // It would walk through the folders that it ignores.
      ['--check', '--log-level', 'warn', '.', '!.cache/**', '!dist/**', ...cache('prettier')],
    ],
  ]);
}

if (isMain(import.meta.url)) {
  await ensureReady({ build: true });
  await check(['unit tests', ...JEST, ['--selectProjects', 'unit', '--maxWorkers', '2']]);
}
