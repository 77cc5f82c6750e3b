import Sequencer from '@jest/test-sequencer';
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { readSeconds } from './durations.mjs';

/** Files of these projects take longest, whatever their size. */
const LONG = ['e2e', 'faults', 'load'];

/**
 * Starts the longest files first, so that no long one runs last. Jest's own order takes durations
 * from its cache only and uses sizes in a fresh clone.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    return byLength(tests, readSeconds());
  }
}

/** @param seconds by the path from the root; a file without an entry is new */
export function byLength(tests, seconds) {
  const rankOf = ({ path, context: { config } }) => {
    const known = seconds[relative(config.rootDir, path)];
    if (known !== undefined) return known;
    // An estimate: a line of a test takes longer if programs are started.
    return sizeOf(path) / (LONG.includes(config.displayName?.name) ? 200 : 2_000);
  };
  const ranks = new Map(tests.map((test) => [test, rankOf(test)]));
  return [...tests].sort((one, other) => ranks.get(other) - ranks.get(one));
}

function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
