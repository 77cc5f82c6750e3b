import type { CleanupScope } from '#lib/local-servers';
import type { People } from './people.js';
import { follow, type Task } from './follow.js';

const DISPATCHES = 20;
const BURST = 100;

export interface Spread {
  p50: number;
  p99: number;
  max: number;
  samples: number;
}

export interface Speed {
  /** The times from the moment a task is ready until an idle worker has claimed it. */
  dispatchLatencyMs: Spread;
  /**
   * Tasks that start one process each, from the request that creates them to the end of the last.
   */
  tasksPerSecond: number;
  burst: number;
}

/** Measures the maximum speed of the fleet with tasks that only start `true`. */
export async function measureSpeed(scope: CleanupScope, people: People): Promise<Speed> {
  const waits: number[] = [];
  for (let count = 0; count < DISPATCHES; count += 1) {
    const [task] = await runAll(scope, people, 1);
    if (task) waits.push(since(task.readyAt, task.assignedAt));
  }
  const tasks = await runAll(scope, people, BURST);
  const ends = tasks.map(({ completedAt }) => Date.parse(completedAt ?? ''));
  const seconds = (Math.max(...ends) - Date.parse(tasks[0]?.createdAt ?? '')) / 1000;
  return {
    dispatchLatencyMs: spreadOf(waits),
    tasksPerSecond: Math.round((tasks.length / seconds) * 10) / 10,
    burst: tasks.length,
  };
}

async function runAll(scope: CleanupScope, people: People, count: number): Promise<Task[]> {
  const { member, projectId } = people;
  const task = {
    title: 'Do nothing',
    taskType: 'nothing',
    projectId,
    requiredCapabilities: ['read'],
    inputContext: { command: ['true'] },
  };
  const tasks = Array.from({ length: count }, () => task);
  const { items } = await member.post('/api/v1/agent-tasks/batch', { body: { tasks } });
  const ids = items.map(({ id }) => id);
  return follow(member, ids, { scope, filter: { taskType: 'nothing' }, everyMs: 40 });
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? NaN, samples: sorted.length };
}

function since(from: string | null, to: string | null): number {
  return Date.parse(to ?? '') - Date.parse(from ?? '');
}
