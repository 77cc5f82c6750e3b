import { Injectable } from '@nestjs/common';
import { NEXT_START, ScheduleStarter } from '#lib/schedules';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/**
 * Creates the tasks of schedules that are due. It writes as their workspaces do, not behind the
 * fence: the due time that each transaction compares keeps two leaders from creating a task twice.
 */
@Injectable()
export class StartSchedules implements Reconciler {
  static readonly facts = {
    name: 'start_schedules',
    counter: 'schedulesStarted',
    moves: 'schedules that are due: their tasks are created',
    due: dueAt(NEXT_START),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly starter: ScheduleStarter) {}

  sweep({ scope }: Pass): Promise<SweepResult> {
    return this.starter.sweep(scope.workspaceId);
  }
}
