import { describe, expect, it } from '@jest/globals';
import type { Edge } from '../../task-manager/domain/dependencies.js';
import { findCycles } from './find-cycles.js';

/** `a>b b>c` */
const read = (text: string): Edge[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((pair) => pair.split('>') as unknown as Edge);

const members = (edges: readonly Edge[]) => findCycles(edges).map((cycle) => cycle.members);

describe('findCycles', () => {
  it.each<[string, string, string[][]]>([
    ['nothing', '', []],
    ['a chain', 'a>b b>c c>d', []],
    ['a diamond', 'a>b a>c b>d c>d', []],
    ['two', 'a>b b>a', [['a', 'b']]],
    ['three, entered from outside, with a tail', 'x>b a>b b>c c>a c>y y>z', [['a', 'b', 'c']]],
    [
      'two that touch no task of each other',
      'c>d d>c a>b b>a',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'two, of which one waits for the other',
      'a>b b>a b>c c>d d>c',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['one inside another', 'a>b b>c c>d d>a b>d c>b', [['a', 'b', 'c', 'd']]],
    ['two through one task', 'a>b b>a a>c c>a', [['a', 'b', 'c']]],
  ])('the cycles of a graph are found: %s', (_, text, expected) => {
    expect(members(read(text))).toEqual(expected);
  });

  it('a cycle has the shortest path from a task back to itself', () => {
    expect(findCycles(read('a>b b>c c>d d>a c>a'))).toEqual([
      { members: ['a', 'b', 'c', 'd'], path: ['a', 'b', 'c', 'a'] },
    ]);
  });

  it('a cycle of 100,000 tasks is found', () => {
    const name = (n: number) => String(n % 100_000).padStart(6, '0');
    const ring = Array.from({ length: 100_000 }, (_, n): Edge => [name(n), name(n + 1)]);
    const [cycle] = findCycles(ring);
    expect([cycle?.members.length, cycle?.path.length]).toEqual([100_000, 100_001]);
  });

  it('exactly the tasks that can reach themselves are found in random graphs', () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 500; round++) {
      const size = 2 + random(8);
      const edges = Array.from({ length: random(2 * size) }, (): Edge => [
        `t${random(size)}`,
        `t${random(size)}`,
      ]).filter(([from, to]) => from !== to);
      expect(members(edges).flat().sort()).toEqual(reachThemselves(edges));
    }
  });
});

function reachThemselves(edges: readonly Edge[]): string[] {
  const ids = [...new Set(edges.flat())].sort();
  return ids.filter((id) => {
    const reached = new Set<string>();
    const open = [id];
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
      for (const [task, dependsOn] of edges) {
        if (task !== from || reached.has(dependsOn)) continue;
        reached.add(dependsOn);
        open.push(dependsOn);
      }
    }
    return reached.has(id);
  });
}
