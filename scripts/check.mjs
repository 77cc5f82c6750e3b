// The fast part of `npm test`: types, lint, formatting, dependency rules, unit tests.
import { ensureReady } from './ensure.mjs';
import { isMain } from './lib/main.mjs';
import { runSteps } from './lib/steps.mjs';

export const CHECKS = [
  ['types', 'node_modules/typescript/bin/tsc', ['--noEmit']],
  ['lint', 'node_modules/eslint/bin/eslint.js', ['.', '--max-warnings', '0']],
  ['format', 'node_modules/prettier/bin/prettier.cjs', ['--check', '--log-level', 'warn', '.']],
  [
    'dependencies',
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    [
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'err',
      'apps',
      'libs',
      'tools',
      'test',
    ],
  ],
];

export const JEST = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js'];

if (isMain(import.meta.url)) {
  await ensureReady({ build: true });
  runSteps([...CHECKS, ['unit tests', ...JEST, ['--selectProjects', 'unit']]]);
}
