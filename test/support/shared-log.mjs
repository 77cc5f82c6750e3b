import { linesDuring } from './shared-programs.mjs';

/** A reporter that prints the lines which a shared server logged during a file that failed. */
export default class SharedLog {
  onTestFileResult({ path }, { numFailingTests, testExecError }) {
    if (numFailingTests === 0 && !testExecError) return;
    const lines = linesDuring(path);
    if (lines.length === 0) return;
    process.stderr.write(`The shared server logged during ${path}:\n${lines.join('\n')}\n`);
  }
}
