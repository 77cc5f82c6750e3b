// All tests with faults, which last as long as test/support/fault-times.ts lets them. Arguments go
// to Jest.
process.env.DROVER_TEST_FAULTS = 'long';
process.argv.splice(2, 0, '--selectProjects=faults');
await import('./test.mjs');
