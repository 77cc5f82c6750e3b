/** How long Jest may take to end once it has told its results, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * A reporter that ends Jest when something that a test left open keeps it alive: the results are told,
 * and whoever waits for the end would wait for ever.
 */
export default class ExitGuard {
  onRunComplete(_, results) {
    setTimeout(() => {
      process.stderr.write(
        'Jest has told its results and does not end: a test has left something open. ' +
          'Find it with --detectOpenHandles.\n',
      );
      process.exit(results.success ? 0 : 1);
    }, PATIENCE_MS).unref();
  }
}
