import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '#lib/kernel';
import { draftTasks, findCycle, type NewEdge, type TaskRequest } from './new-task.js';

const field = (index: number) => `tasks[${index}].`;
const wanted = (values: Partial<TaskRequest>): TaskRequest => ({
  title: 't',
  taskType: 'x',
  ...values,
});

describe('draftTasks', () => {
  it('defaults are filled in, and capabilities are sorted and unique', () => {
    const draft = draftTasks(
      [wanted({ requiredCapabilities: ['b', 'a', 'b'], tags: ['y', 'y'] })],
      field,
    );
    expect(draft).toMatchObject({
      kind: 'ok',
      tasks: [
        {
          priority: 5,
          maxRetries: 3,
          retryBackoffSeconds: 300,
          requiredCapabilities: ['a', 'b'],
          tags: ['y'],
        },
      ],
    });
  });

  it('refs become ids of the batch', () => {
    const draft = draftTasks(
      [wanted({ ref: 'a' }), wanted({ dependsOn: [{ ref: 'a', policy: 'fail' }] })],
      field,
    );
    if (draft.kind !== 'ok') throw new Error(draft.kind);
    expect(draft.tasks[1]?.edges).toEqual([
      { taskId: draft.tasks[1]?.id, dependsOnId: draft.tasks[0]?.id, policy: 'fail' },
    ]);
  });

  const id = newId();
  it.each<[string, TaskRequest[], string]>([
    [
      'a ref that no task has',
      [wanted({ dependsOn: [{ ref: 'nobody' }] })],
      'tasks[0].dependsOn[0]',
    ],
    ['a milestone without its project', [wanted({ milestoneId: id })], 'tasks[0].milestoneId'],
    ['the same ref twice', [wanted({ ref: 'a' }), wanted({ ref: 'a' })], 'tasks[1].ref'],
    [
      'the same dependency twice',
      [wanted({ dependsOn: [id, { taskId: id }] })],
      'tasks[0].dependsOn[1]',
    ],
    ['neither id nor ref', [wanted({ dependsOn: [{}] })], 'tasks[0].dependsOn[0]'],
  ])('%s is refused by its field', (_, tasks, name) => {
    expect(draftTasks(tasks, field)).toMatchObject({ kind: 'invalid', errors: [{ field: name }] });
  });

  it('a cycle is named by its refs in order', () => {
    const tasks = [
      wanted({ ref: 'a', dependsOn: [{ ref: 'c' }] }),
      wanted({ ref: 'b', dependsOn: [{ ref: 'a' }] }),
      wanted({ ref: 'c', dependsOn: [{ ref: 'b' }] }),
    ];
    expect(draftTasks(tasks, field)).toEqual({ kind: 'cycle', path: ['a', 'c', 'b', 'a'] });
  });
});

describe('findCycle', () => {
  const graph = (edges: [number, number][], size: number) =>
    Array.from({ length: size }, (_, n) => ({
      id: `${n}`,
      edges: edges
        .filter(([from]) => from === n)
        .map(([from, to]): NewEdge => ({
          taskId: `${from}`,
          dependsOnId: `${to}`,
          policy: 'block',
        })),
    }));

  it('a graph whose edges point to earlier tasks has no cycle', () => {
    const edge = fc.tuple(fc.nat(19), fc.nat(19)).filter(([from, to]) => from > to);
    fc.assert(fc.property(fc.array(edge), (edges) => findCycle(graph(edges, 20)) === null));
  });

  it('a found cycle is a cycle of the graph', () => {
    const edge = fc.tuple(fc.nat(7), fc.nat(7)).filter(([from, to]) => from !== to);
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 30 }), (edges) => {
        const cycle = findCycle(graph(edges, 8));
        if (cycle === null) return;
        expect(cycle[0]).toBe(cycle.at(-1));
        for (let i = 1; i < cycle.length; i++) {
          expect(edges).toContainEqual([Number(cycle[i - 1]), Number(cycle[i])]);
        }
      }),
    );
  });

  it('every cycle is found', () => {
    const ring = fc
      .integer({ min: 2, max: 8 })
      .map((n) => Array.from({ length: n }, (_, i): [number, number] => [i, (i + 1) % n]));
    const edge = fc.tuple(fc.nat(7), fc.nat(7)).filter(([from, to]) => from !== to);
    fc.assert(
      fc.property(
        ring,
        fc.array(edge),
        (cycle, more) => findCycle(graph([...more, ...cycle], 8)) !== null,
      ),
    );
  });

  it('a chain of 100,000 tasks is walked', () => {
    const chain = Array.from({ length: 99_999 }, (_, n): NewEdge => ({
      taskId: `${n}`,
      dependsOnId: `${n + 1}`,
      policy: 'block',
    }));
    const tasks = Array.from({ length: 100_000 }, (_, n) => ({
      id: `${n}`,
      edges: chain.slice(n, n + 1),
    }));
    expect(findCycle(tasks)).toBeNull();
  });
});
