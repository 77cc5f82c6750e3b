/** The time that Jest has to end after it has printed its results, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * A reporter that ends Jest if an open handle of a test keeps it alive. The results are printed,
 * and the caller would otherwise wait forever.
 */
export default class ExitGuard {
  onRunComplete(_, results) {
    setTimeout(() => {
      process.stderr.write(
        'Jest has printed its results and does not end: a test has left something open. ' +
          'Find it with --detectOpenHandles.\n',
      );
      process.exit(results.success ? 0 : 1);
    }, PATIENCE_MS).unref();
  }
}
