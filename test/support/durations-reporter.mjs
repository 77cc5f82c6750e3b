import { relative } from 'node:path';
import { keepSeconds } from './durations.mjs';

const SHOWN = 10;

/** A Jest reporter that stores the duration of each file, and prints the slowest ones. */
export default class DurationsReporter {
  seconds = {};

  constructor({ rootDir }) {
    this.root = rootDir;
  }

  onTestResult(_test, { testFilePath, perfStats: { start, end } }) {
    // A file that could not be loaded has no end, or neither.
    if (end === 0 || end < start) return;
    this.seconds[relative(this.root, testFilePath)] = Math.round((end - start) / 100) / 10;
  }

  onRunComplete() {
    keepSeconds(this.seconds);
    const slowest = Object.entries(this.seconds).sort(([, one], [, other]) => other - one);
    const lines = slowest
      .slice(0, SHOWN)
      .map(([file, seconds]) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}\n`);
    if (lines.length > 1) process.stderr.write(`\nThe slowest files:\n${lines.join('')}`);
  }
}
