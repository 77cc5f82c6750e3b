import { Injectable } from '@nestjs/common';
import { NEXT_OVERDUE_REVIEW, noteOverdueReviews } from '#lib/changes';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/** Tells once that nobody has reviewed a change in time. */
@Injectable()
export class RemindReviews implements Reconciler {
  static readonly facts = {
    name: 'remind_reviews',
    counter: 'reviewsOverdue',
    moves: 'changes that nobody has reviewed in time: an event, and no other state',
    notable: 'Changes were not reviewed in time',
    due: dueAt(NEXT_OVERDUE_REVIEW),
  } as const satisfies ReconcilerFacts;

  async sweep(pass: Pass): Promise<SweepResult> {
    return pass.countMoved(await pass.apply(noteOverdueReviews));
  }
}
