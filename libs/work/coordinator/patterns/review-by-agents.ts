import { Injectable } from '@nestjs/common';
import {
  AGENT_REVIEW_IS_DUE,
  AgentReviews,
  type DueAgentReview,
  dueAgentReviews,
} from '#lib/changes';
import type { SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAtOnceIf } from './due.sql.js';

/**
 * Asks agents to review changes, and takes their verdicts. It writes as the workspaces do, not behind
 * the fence: the row of a change keeps two leaders from asking twice.
 */
@Injectable()
export class ReviewByAgents implements Reconciler {
  static readonly facts = {
    name: 'review_by_agents',
    counter: 'agentReviews',
    moves: 'changes that an agent reviews: its task is created, or its verdict taken',
    due: { ...dueAtOnceIf(AGENT_REVIEW_IS_DUE), mayBeForbidden: true },
  } as const satisfies ReconcilerFacts;

  constructor(private readonly reviews: AgentReviews) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const due = await pass.find(dueAgentReviews);
    const moved: DueAgentReview[] = [];
    for (const review of due) if (await this.reviews.advance(review)) moved.push(review);
    return pass.countMoved(moved);
  }
}
