import { describe, expect, it } from '@jest/globals';
import { Random } from './random.js';
import { FAULT_KINDS, KINDS, planFaults } from './schedule.js';

const MINUTE = 60_000;

describe('the schedule of faults', () => {
  it('the schedule of faults depends on the seed alone', () => {
    expect(planFaults(7, 10 * MINUTE)).toEqual(planFaults(7, 10 * MINUTE));
    expect(planFaults(7, 10 * MINUTE)).not.toEqual(planFaults(8, 10 * MINUTE));
  });

  it.each([1, 2, 3, 4, 5, 99])(
    'a schedule of two minutes has every kind of fault (seed %i)',
    (seed) => {
      const kinds = new Set(planFaults(seed, 2 * MINUTE).map((fault) => fault.kind));
      expect(FAULT_KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
    },
  );

  it('all faults end in time, and their starts are in order', () => {
    const planned = planFaults(3, 5 * MINUTE);
    const starts = planned.map((fault) => fault.atMs);
    expect(starts).toEqual([...starts].sort((a, b) => a - b));
    for (const { atMs, lastsMs } of planned) expect(atMs + lastsMs).toBeLessThan(5 * MINUTE);
  });

  it('two faults at once never need the same thing, and others overlap', () => {
    const planned = planFaults(4, 30 * MINUTE);
    let overlaps = 0;
    for (const [at, fault] of planned.entries()) {
      for (const later of planned.slice(at + 1)) {
        if (later.atMs >= fault.atMs + fault.lastsMs) continue;
        overlaps += 1;
        const both = [KINDS[fault.kind].needs, KINDS[later.kind].needs];
        if (both[0] === both[1] && both[0] !== 'nothing') {
          expect(['worker', 'server']).toContain(both[0]);
          expect(fault.target).not.toBe(later.target);
        }
      }
    }
    expect(overlaps).toBeGreaterThan(10);
  });
});

describe('the numbers of a seed', () => {
  it('the numbers of a seed are spread evenly, and within their bounds', () => {
    const random = new Random(1);
    const counts = [0, 0, 0, 0];
    for (let draw = 0; draw < 4_000; draw++) {
      const n = random.int(0, 3);
      counts[n] = (counts[n] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it('the numbers of a fork do not depend on draws from another', () => {
    const [one, two] = [new Random(5), new Random(5)];
    const fork = one.fork(1);
    one.next();
    expect(fork.next()).toBe(two.fork(1).next());
  });
});
