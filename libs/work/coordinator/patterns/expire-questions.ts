import { Injectable } from '@nestjs/common';
import { dueQuestions, NEXT_DEADLINE, Questions } from '#lib/questions';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAt } from './due.sql.js';

/**
 * Closes questions without an answer in time. Their tasks go on with the default answer, or fail.
 */
@Injectable()
export class ExpireQuestions implements Reconciler {
  static readonly facts = {
    name: 'expire_questions',
    counter: 'questionsExpired',
    moves: 'tasks whose question nobody has answered in time: on with the default, or FAILED',
    notable: 'Questions were not answered in time',
    due: dueAt(NEXT_DEADLINE),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly questions: Questions) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const moved = [];
    // One transaction each: a transaction that has changed a task locks no further one.
    for (const question of await pass.find(dueQuestions)) {
      const { workspace_id: workspaceId } = question;
      const wake = await pass.transaction((tx) => this.questions.expire(tx, workspaceId, question));
      if (wake) moved.push(question);
      wake?.();
    }
    return pass.countMoved(moved);
  }
}
