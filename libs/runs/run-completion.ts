import { Injectable } from '@nestjs/common';
import { DroverError } from '#lib/kernel';
import { Claiming } from './claims/claiming.js';
import type { Reporter } from './reporter.js';
import type { ReportOutcome } from './repeated-reports.js';
import { RunReports } from './run-reports.js';
import type { ClaimedTask } from './run-view.js';

export interface Completion {
  outputResult?: Record<string, unknown>;
  summary?: string;
  claimNext?: { maxTasks?: number };
}

/** Completes a run and, if asked, claims the next tasks: one round trip less for a busy agent. */
@Injectable()
export class RunCompletion {
  constructor(
    private readonly reports: RunReports,
    private readonly claiming: Claiming,
  ) {}

  /** @throws DroverError `forbidden` when a run token asks for further tasks: it is good for its run alone */
  async complete(
    by: Reporter,
    body: Completion,
  ): Promise<ReportOutcome & { claimed?: ClaimedTask[] }> {
    if (body.claimNext && by.actor.kind !== 'agent') {
      const detail =
        'Only the token of the agent claims tasks: complete the run without claimNext.';
      throw new DroverError('forbidden', { detail });
    }
    const outcome = await this.reports.complete(by, body);
    if (!body.claimNext) return outcome;
    const { workspaceId, agentId } = by;
    const claimed = await this.claiming.claimNow({
      workspaceId,
      agentId,
      maxTasks: body.claimNext.maxTasks ?? 1,
    });
    return { ...outcome, claimed };
  }
}
