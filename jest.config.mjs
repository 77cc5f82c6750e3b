import { readFileSync } from 'node:fs';
import { clearSettings } from './scripts/lib/environment.mjs';

// Workers of Jest inherit the environment of this process.
clearSettings(process.env);

/** The imports of package.json, which lead into dist/, lead to the sources here. */
const { imports } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const libraries = Object.entries(imports)
  .filter(([name]) => name.startsWith('#lib/'))
  .map(([name, built]) => [
    `^${name}$`,
    built.replace('./dist/', '<rootDir>/').replace(/js$/, 'ts'),
  ]);

const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  runtime: '<rootDir>/test/support/jest/runtime.mjs',
  /** `modules.mjs` compiles, when a module is loaded. */
  transform: {},
  moduleNameMapper: {
    ...Object.fromEntries(libraries),
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/', '<rootDir>/.drover/'],
};

export default {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,libs,tools,test}/**/*.spec.ts'],
    },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/{apps,libs,tools,test}/**/*.int-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
    {
      ...shared,
      displayName: 'e2e',
      testMatch: ['<rootDir>/test/{e2e,faults}/**/*.e2e-spec.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
    {
      ...shared,
      displayName: 'faults',
      testMatch: ['<rootDir>/test/faults/**/*.fault-spec.ts'],
      runner: '<rootDir>/test/support/faults-runner.mjs',
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
  reporters: [
    'default',
    '<rootDir>/test/support/shared-log.mjs',
    '<rootDir>/test/support/durations-reporter.mjs',
    '<rootDir>/test/support/exit-guard.mjs',
  ],
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  // Ends tests that hang. A loaded machine takes minutes for some tests.
  testTimeout: 600_000,
  // A worker keeps what test files leave behind, such as cached code. One that has grown so large is
  // replaced.
  workerIdleMemoryLimit: '1GB',
};
