import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DroverError, newId } from '#lib/kernel';
import {
  type Edge,
  findWay,
  isSettledAtOnce,
  planDependencies,
  readDependencies,
  requireKnown,
  type RequestedDependency,
} from './dependencies.js';

const A = newId();
const B = newId();

function fieldsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    return (error as DroverError).extras.errors?.map(({ field }) => field) ?? [];
  }
  return [];
}

describe('readDependencies', () => {
  it('ids and objects are accepted in any case of letters', () => {
    expect(readDependencies([A.toUpperCase(), { taskId: B, policy: 'fail' }])).toEqual([
      { taskId: A, policy: 'block' },
      { taskId: B, policy: 'fail' },
    ]);
  });

  const wrong: [unknown, string][] = [
    ['x', 'dependsOn[0]'],
    [7, 'dependsOn[0]'],
    [null, 'dependsOn[0]'],
    [[], 'dependsOn[0]'],
    [{}, 'dependsOn[0].taskId'],
    [{ taskId: 'x' }, 'dependsOn[0].taskId'],
    [{ taskId: A, policy: 'maybe' }, 'dependsOn[0].policy'],
    [{ taskId: A, policy: null }, 'dependsOn[0].policy'],
    [{ taskId: A, other: 1 }, 'dependsOn[0].other'],
  ];
  it.each(wrong)('%j is refused at %s', (item, field) => {
    expect(fieldsOf(() => readDependencies([item]))).toEqual([field]);
  });

  it('a repeated task is refused', () => {
    expect(fieldsOf(() => readDependencies([A, { taskId: A.toUpperCase() }]))).toEqual([
      'dependsOn[1]',
    ]);
  });

  it('no input causes another error', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), fc.uuid())), (items) => {
        try {
          for (const { taskId } of readDependencies(items))
            expect(taskId).toBe(taskId.toLowerCase());
        } catch (error) {
          expect(error).toMatchObject({ code: 'validation_failed' });
        }
      }),
    );
  });
});

it('each unknown id is named with its position', () => {
  const requested: RequestedDependency[] = [A, B].map((taskId) => ({ taskId, policy: 'block' }));
  expect(fieldsOf(() => requireKnown(new Set([A]), requested))).toEqual(['dependsOn[1]']);
  expect(fieldsOf(() => requireKnown(new Set([A, B]), requested))).toEqual([]);
});

describe('isSettledAtOnce', () => {
  const completed = { completed: true, ended_without_success: false };
  const failed = { completed: false, ended_without_success: true };
  const waiting = { completed: false, ended_without_success: false };
  it.each([
    [completed, 'block', true],
    [completed, 'fail', true],
    [failed, 'ignore', true],
    [failed, 'block', false],
    [failed, 'fail', false],
    [waiting, 'ignore', false],
  ] as const)('%j with %s: %s', (end, policy, settled) => {
    expect(isSettledAtOnce(end, policy)).toBe(settled);
  });
});

describe('planDependencies', () => {
  const block = (taskId: string): RequestedDependency => ({ taskId, policy: 'block' });
  const fail = (taskId: string): RequestedDependency => ({ taskId, policy: 'fail' });

  it('new dependencies are added, and changed policies written', () => {
    const plan = planDependencies([block('a'), block('b')], {
      kind: 'add',
      requested: [block('a'), fail('b'), block('c')],
    });
    expect(plan).toEqual({ removed: [], written: [fail('b'), block('c')], total: 3 });
  });

  it('a replacement removes missing dependencies', () => {
    const plan = planDependencies([block('a'), block('b')], {
      kind: 'replace',
      requested: [block('b'), block('c')],
    });
    expect(plan).toEqual({ removed: ['a'], written: [block('c')], total: 2 });
  });

  it('a single existing dependency is removed', () => {
    const current = [block('a')];
    expect(planDependencies(current, { kind: 'remove', taskId: 'a' })).toEqual({
      removed: ['a'],
      written: [],
      total: 0,
    });
    expect(planDependencies(current, { kind: 'remove', taskId: 'b' })).toBeNull();
  });

  it('the plan leads to the requested state, and a second one is empty', () => {
    const policy = fc.constantFrom('block' as const, 'fail' as const, 'ignore' as const);
    const requested = fc.uniqueArray(fc.record({ taskId: fc.constantFrom(...'abcdef'), policy }), {
      selector: ({ taskId }) => taskId,
    });
    const kind = fc.constantFrom('add' as const, 'replace' as const);
    fc.assert(
      fc.property(requested, requested, kind, (current, asked, how) => {
        const after = new Map(current.map((item) => [item.taskId, item]));
        const plan = planDependencies(current, { kind: how, requested: asked });
        for (const taskId of plan?.removed ?? []) after.delete(taskId);
        for (const item of plan?.written ?? []) after.set(item.taskId, item);
        expect(after.size).toBe(plan?.total);
        for (const item of asked) expect(after.get(item.taskId)).toEqual(item);
        if (how === 'replace') expect(after.size).toBe(asked.length);
        const again = planDependencies([...after.values()], { kind: how, requested: asked });
        expect(again).toMatchObject({ removed: [], written: [] });
      }),
    );
  });
});

describe('findWay', () => {
  it('the shortest path is found', () => {
    const edges: Edge[] = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'd'],
      ['a', 'x'],
      ['x', 'd'],
    ];
    expect(findWay(edges, ['a'], 'd')).toEqual(['a', 'x', 'd']);
    expect(findWay(edges, ['d'], 'a')).toBeNull();
    expect(findWay(edges, ['a', 'd'], 'd')).toEqual(['d']);
  });

  it('a path is found exactly if there is one, along edges', () => {
    const node = fc.integer({ min: 0, max: 9 }).map(String);
    const edges = fc.array(fc.tuple(node, node), { maxLength: 40 });
    fc.assert(
      fc.property(
        edges,
        fc.array(node, { minLength: 1, maxLength: 3 }),
        node,
        (all, starts, to) => {
          const way = findWay(all, starts, to);
          expect(way !== null).toBe(reaches(all, starts, to));
          if (!way) return;
          expect(starts).toContain(way[0]);
          expect(way.at(-1)).toBe(to);
          expect(new Set(way).size).toBe(way.length);
          way.slice(1).forEach((id, index) => expect(all).toContainEqual([way[index], id]));
        },
      ),
    );
  });

  it('a long chain does not stop the search', () => {
    const edges = Array.from({ length: 50_000 }, (_, i) => [`${i}`, `${i + 1}`] as const);
    expect(findWay(edges, ['0'], '50000')).toHaveLength(50_001);
  });
});

/** The same question, answered the slow way. */
function reaches(edges: readonly Edge[], starts: readonly string[], target: string): boolean {
  const seen = new Set(starts);
  for (let size = -1; size !== seen.size;) {
    size = seen.size;
    for (const [from, to] of edges) if (seen.has(from)) seen.add(to);
  }
  return seen.has(target);
}
