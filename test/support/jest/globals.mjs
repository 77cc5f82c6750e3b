// Test files and their helpers import this module as `@jest/globals`. Helpers outlive a file, and an
// import follows its variable: so each name always leads to the globals of the file that runs.

export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test;

/** @param globals those of the test file that runs from now on */
export function useGlobals(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals);
}
