// Runs all tests with faults, for the times in test/support/fault-times.ts. Arguments go to Jest.
process.env.DROVER_TEST_FAULTS = 'long';
process.argv.splice(2, 0, '--selectProjects=faults');
await import('./test.mjs');
