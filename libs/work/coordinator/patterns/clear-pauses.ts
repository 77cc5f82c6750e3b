import { Injectable } from '@nestjs/common';
import { TaskSuspension } from '#lib/task-manager';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/** Ends expired pauses, and keeps tasks of paused types out of the way of other tasks. */
@Injectable()
export class ClearPauses implements Reconciler {
  static readonly facts = {
    name: 'clear_pauses',
    counter: 'tasksParkedOrFreed',
    moves: 'pauses whose time is over; tasks of paused types, out of the way and back',
    due: dueAt(`(SELECT least(
    (SELECT min(until) FROM pauses WHERE ended_at IS NULL),
    (SELECT min(until) FROM installation_pauses WHERE ended_at IS NULL)))`),
    acrossWorkspaces: true,
  } as const satisfies ReconcilerFacts;

  constructor(private readonly suspension: TaskSuspension) {}

  sweep({ fence, limit }: Pass) {
    return this.suspension.sweep(fence, limit);
  }
}
