import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import type { Caller } from '#lib/kernel';
import type { TaskCounts } from '#lib/transitions';
import { taskCounts } from './task-counts.sql.js';
import { taskThroughput } from './task-throughput.sql.js';

const STEPS = 30;

/** Seconds that 50 % and 95 % of the tasks took at most. */
export interface Spread {
  p50: number;
  p95: number;
}

export interface TaskThroughputView {
  completed: number;
  /** Tasks that failed for good in this time, and were not retried or archived since. */
  failed: number;
  wait: Spread | null;
  run: Spread | null;
  steps: { from: string; completed: number; failed: number }[];
}

/**
 * Numbers of waiting, running and completed tasks of a workspace, and their waits and durations.
 */
@Injectable()
export class TaskThroughput {
  constructor(private readonly database: Database) {}

  /**
   * @param minutes length of the period, in thirty steps; the last step is incomplete
   */
  async read({ workspaceId }: Caller, minutes: number): Promise<TaskThroughputView> {
    const seconds = (minutes * 60) / STEPS;
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, taskThroughput, [workspaceId, seconds, STEPS]);
    if (!row) throw new Error('A sum was not answered.');
    const { completed, failed, wait, run, counts, failures, until } = row;
    const since = until.getTime() - STEPS * seconds * 1_000;
    const steps = counts.map((count, step) => ({
      from: new Date(since + step * seconds * 1_000).toISOString(),
      completed: count,
      failed: failures[step] ?? 0,
    }));
    return { completed, failed, wait: spreadOf(wait), run: spreadOf(run), steps };
  }

  async counts({ workspaceId }: Caller): Promise<TaskCounts> {
    const row = await firstRow(this.database.tenant(workspaceId), taskCounts);
    if (!row) throw new Error('A count was not answered.');
    return row;
  }
}

function spreadOf(row: [number, number] | null): Spread | null {
  return row && { p50: row[0], p95: row[1] };
}
