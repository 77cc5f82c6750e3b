/**
 * Judges a whole run by the second runs of its failed files. A file that passes alone is flaky, and
 * counts by that run. A file that fails twice has failed.
 *
 * @param first the report of the whole run, as Jest writes it with --json
 * @param second the report of each failed file by its path; undefined if that run wrote none
 */
export function judgeSecondRuns(first, second) {
  const failed = failedFiles(first);
  const flaky = failed.filter(({ name }) => second[name]?.success === true);
  const counted = first.testResults.flatMap((file) =>
    flaky.includes(file) ? second[file.name].testResults : [file],
  );
  const tests = counted.flatMap(({ assertionResults }) => assertionResults);
  const count = (status) => tests.filter((test) => test.status === status).length;
  return {
    // A run can also fail without a failed file, for instance by a test that is not found.
    success: first.success || (failed.length > 0 && flaky.length === failed.length),
    flaky: flaky.map(nameAndMessage),
    failed: failed.filter((file) => !flaky.includes(file)).map(nameAndMessage),
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
  };
}

/** Returns the failed files of a Jest report. A file also fails if it cannot be loaded. */
export function failedFiles({ testResults }) {
  return testResults.filter(({ status }) => status === 'failed');
}

const nameAndMessage = ({ name, message }) => ({ name, message });
