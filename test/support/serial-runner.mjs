import TestRunner from 'jest-runner';

/**
 * One test file after the other, whatever --maxWorkers says: for files that put load on the machine. Jest runs
 * each runner's files by themselves.
 */
export default class SerialRunner extends TestRunner {
  isSerial = true;
}
