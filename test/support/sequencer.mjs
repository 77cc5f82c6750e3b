import Sequencer from '@jest/test-sequencer';
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { readSeconds } from './durations.mjs';

/** Files of these projects take longest, whatever their size. */
const LONG = ['e2e', 'faults', 'load'];

/**
 * Each of these files starts a thousand programs. A fork copies the tables of its worker's memory,
 * which grows with each file, so they run first.
 */
const FORKING =
  /(libs\/code\/git\/(git|hostile|proxy\/git-proxy)|apps\/worker\/code\/code)\.int-spec\.ts$/;

/** The seconds of files that take at least three times as long as their size suggests. */
export const LONGER_THAN_THEIR_SIZE = {
  'test/attack/limits.int-spec.ts': 75,
  'test/e2e/demo.e2e-spec.ts': 120,
  'test/e2e/dev.e2e-spec.ts': 45,
  'test/e2e/start-end.e2e-spec.ts': 65,
  'test/faults/chaos/chaos.fault-spec.ts': 90,
  'test/faults/changes.fault-spec.ts': 90,
  'test/faults/code-work.fault-spec.ts': 130,
  'test/faults/forges.fault-spec.ts': 75,
  'test/faults/gateway.fault-spec.ts': 100,
  'test/faults/leader-killed.fault-spec.ts': 220,
  'test/faults/leader.fault-spec.ts': 115,
  'test/faults/postgres.fault-spec.ts': 190,
  'test/faults/valkey.fault-spec.ts': 80,
};

/**
 * Starts the longest files of each project first, so that no long one runs last, and spreads each
 * project over the whole run. End-to-end tests mostly wait, and integration tests compute: beside
 * each other they use all cores. Jest's own order takes durations from its cache only and uses sizes
 * in a fresh clone.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    return spreadByLength(tests, readSeconds());
  }
}

/** @param seconds by the path from the root; a file without an entry is new */
export function spreadByLength(tests, seconds) {
  const rankOf = ({ path, context: { config } }) => {
    const name = relative(config.rootDir, path);
    const known = seconds[name] ?? LONGER_THAN_THEIR_SIZE[name];
    if (known !== undefined) return known;
    // An estimate: a line of a test takes longer if programs are started.
    return sizeOf(path) / (LONG.includes(projectOf({ context: { config } })) ? 200 : 2_000);
  };
  const ranks = new Map(tests.map((test) => [test, rankOf(test)]));
  const byLength = [...tests].sort((one, other) => ranks.get(other) - ranks.get(one));
  /** The share of its project's time that passes before a file starts. */
  const starts = new Map();
  for (const files of Map.groupBy(byLength, projectOf).values()) {
    const total = files.reduce((sum, file) => sum + ranks.get(file), 0) || 1;
    let before = 0;
    for (const file of files) {
      starts.set(file, FORKING.test(file.path) ? -1 : before / total);
      before += ranks.get(file);
    }
  }
  return byLength.sort((one, other) => starts.get(one) - starts.get(other));
}

function projectOf({ context: { config } }) {
  return config.displayName?.name;
}

function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
