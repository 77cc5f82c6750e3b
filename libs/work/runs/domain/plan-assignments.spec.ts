import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Allowance,
  type FreeAgent,
  planAssignments,
  type ReadyTask,
} from './plan-assignments.js';

const TAKES_ALL = { capabilities: [], dedicatedTo: [], taskTypes: [] };
const NO_LIMIT: Allowance = { total: 1_000, ofWorkspace: new Map() };

function agent(agentId: string, values: Partial<FreeAgent> = {}): FreeAgent {
  return {
    workspaceId: 'w',
    agentId,
    ...TAKES_ALL,
    liveRuns: 0,
    maxRuns: 1,
    workspaceRuns: 0,
    ...values,
  };
}

function task(taskId: string, rank: number, values: Partial<ReadyTask> = {}): ReadyTask {
  return {
    workspaceId: 'w',
    taskId,
    taskType: 'test',
    requiredCapabilities: [],
    queueRank: BigInt(rank),
    ...values,
  };
}

const pairs = (
  agents: FreeAgent[],
  tasks: ReadyTask[],
  allowance: Allowance = NO_LIMIT,
): [string, string][] =>
  planAssignments(agents, tasks, allowance).map((one) => [one.taskId, one.agentId]);

describe('a plan of assignments', () => {
  it('the task of the lowest rank goes first, to the least busy agent', () => {
    const agents = [agent('busy', { liveRuns: 1, maxRuns: 3 }), agent('idle', { maxRuns: 2 })];
    expect(pairs(agents, [task('later', 2), task('sooner', 1), task('last', 3)])).toEqual([
      ['sooner', 'idle'],
      ['later', 'busy'],
      ['last', 'idle'],
    ]);
  });

  it('agents get only tasks of their types and dedications', () => {
    const agents = [
      agent('research', { taskTypes: ['research'] }),
      agent('gpu', { capabilities: ['gpu'], dedicatedTo: ['gpu'] }),
    ];
    const tasks = [
      task('plain', 1),
      task('trained', 2, { requiredCapabilities: ['gpu'] }),
      task('read', 3, { taskType: 'research' }),
    ];
    expect(pairs(agents, tasks)).toEqual([
      ['trained', 'gpu'],
      ['read', 'research'],
    ]);
  });

  it('a more capable agent stays free for tasks that only it can do', () => {
    const agents = [
      agent('both', { capabilities: ['a', 'b'] }),
      agent('a', { capabilities: ['a'] }),
    ];
    const tasks = [
      task('plain', 1, { requiredCapabilities: ['a'] }),
      task('special', 2, { requiredCapabilities: ['b'] }),
    ];
    expect(pairs(agents, tasks)).toEqual([
      ['plain', 'a'],
      ['special', 'both'],
    ]);
  });

  it('a task that no agent can take now is skipped', () => {
    const tasks = [task('odd', 1, { requiredCapabilities: ['x'] }), task('plain', 2)];
    expect(pairs([agent('one')], tasks)).toEqual([['plain', 'one']]);
  });

  it('the first task of a workspace goes before the backlog of another', () => {
    const agents = [
      agent('big', { workspaceId: 'big', maxRuns: 50 }),
      agent('small', { workspaceId: 'small', maxRuns: 50 }),
    ];
    const backlog = Array.from({ length: 40 }, (_, i) => task(`b${i}`, i, { workspaceId: 'big' }));
    const tasks = [...backlog, task('s', 1_000, { workspaceId: 'small' })];
    const plan = pairs(agents, tasks, { total: 4, ofWorkspace: new Map() });
    expect(plan).toEqual([
      ['b0', 'big'],
      ['s', 'small'],
      ['b1', 'big'],
      ['b2', 'big'],
    ]);
  });

  it('the current runs of a workspace count', () => {
    const agents = [
      agent('full', { workspaceId: 'full', workspaceRuns: 5, maxRuns: 9 }),
      agent('new', { workspaceId: 'new', maxRuns: 9 }),
    ];
    const tasks = [
      ...[1, 2].map((rank) => task(`f${rank}`, rank, { workspaceId: 'full' })),
      ...[8, 9].map((rank) => task(`n${rank}`, rank, { workspaceId: 'new' })),
    ];
    const plan = pairs(agents, tasks, { total: 2, ofWorkspace: new Map() });
    expect(plan.map(([id]) => id)).toEqual(['n8', 'n9']);
  });

  it('the allowance of a workspace limits its assignments', () => {
    const tasks = [1, 2, 3].map((rank) => task(`t${rank}`, rank));
    const allowance = { total: 9, ofWorkspace: new Map([['w', 2]]) };
    expect(pairs([agent('one', { maxRuns: 9 })], tasks, allowance)).toHaveLength(2);
  });
});

describe('any plan of assignments', () => {
  const capability = fc.constantFrom('a', 'b', 'c');
  const workspace = fc.constantFrom('w1', 'w2', 'w3');
  const agents = fc.array(
    fc.record({
      workspaceId: workspace,
      capabilities: fc.uniqueArray(capability),
      liveRuns: fc.nat(3),
      room: fc.nat(3),
    }),
    { maxLength: 12 },
  );
  const tasks = fc.array(
    fc.record({
      workspaceId: workspace,
      requiredCapabilities: fc.uniqueArray(capability),
      queueRank: fc.bigInt(-1_000n, 1_000n),
    }),
    { maxLength: 40 },
  );

  it('any plan is within all limits and leaves no task that fits', () => {
    fc.assert(
      fc.property(agents, tasks, fc.nat(30), (someAgents, someTasks, total) => {
        const free = someAgents.map(({ room, ...rest }, i) => ({
          ...TAKES_ALL,
          ...rest,
          agentId: `a${i}`,
          maxRuns: rest.liveRuns + room,
          workspaceRuns: 0,
        }));
        const ready = someTasks.map((one, i) => ({ ...one, taskType: 'test', taskId: `t${i}` }));
        const plan = planAssignments(free, ready, { total, ofWorkspace: new Map() });

        expect(plan.length).toBeLessThanOrEqual(total);
        expect(new Set(plan.map((one) => one.taskId)).size).toBe(plan.length);
        const roomOf = new Map(free.map((one) => [one.agentId, one.maxRuns - one.liveRuns]));
        for (const { taskId, agentId, workspaceId } of plan) {
          roomOf.set(agentId, (roomOf.get(agentId) ?? 0) - 1);
          const given = ready.find((one) => one.taskId === taskId);
          const taker = free.find((one) => one.agentId === agentId);
          expect([given?.workspaceId, taker?.workspaceId]).toEqual([workspaceId, workspaceId]);
          expect(taker?.capabilities).toEqual(
            expect.arrayContaining(given?.requiredCapabilities ?? ['?']),
          );
        }
        expect([...roomOf.values()].every((room) => room >= 0)).toBe(true);
        if (plan.length === total) return;
        const given = new Set(plan.map((one) => one.taskId));
        const fits = ready.filter(
          (one) =>
            !given.has(one.taskId) &&
            free.some(
              (taker) =>
                (roomOf.get(taker.agentId) ?? 0) > 0 &&
                taker.workspaceId === one.workspaceId &&
                one.requiredCapabilities.every((name) => taker.capabilities.includes(name)),
            ),
        );
        expect(fits).toEqual([]);
      }),
    );
  });
});
