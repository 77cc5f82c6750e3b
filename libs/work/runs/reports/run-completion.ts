import { Injectable } from '@nestjs/common';
import { type Caller, DroverError, tokenMarksOf } from '#lib/kernel';
import type { UsageReport } from '#lib/ledger';
import type { ClaimOutcome } from '../claims/claim-batcher.js';
import { ClaimService } from '../claims/claim.service.js';
import { CompletionClaimBatcher } from './completion-claim-batcher.js';
import { type Reporter, reporterOf } from './reporter.js';
import type { ReportOutcome } from './report-replay.js';
import { RunReports } from './run-reports.js';
import { RunUsage } from './run-usage.js';
import type { ClaimedTask } from '../claims/run-view.js';

export interface CompletionRequest {
  outputResult?: Record<string, unknown>;
  summary?: string;
  /** Usage that was not reported before. */
  usage?: UsageReport[];
  claimNext?: { maxTasks?: number };
}

export interface Completions {
  completions: readonly {
    runId: string;
    outputResult?: Record<string, unknown>;
    summary?: string;
    usage?: UsageReport[];
  }[];
  claimNext?: { maxTasks?: number };
}

/** The result of one of many reports. */
export type OneOutcome = { runId: string } & (
  | { outcome: ReportOutcome }
  | { problem: Record<string, unknown> }
);

/** Completes a run and, if asked, claims the next tasks. This saves a busy agent one round trip. */
@Injectable()
export class RunCompletion {
  constructor(
    private readonly reports: RunReports,
    private readonly claiming: ClaimService,
    private readonly usage: RunUsage,
    private readonly pairs: CompletionClaimBatcher,
  ) {}

  /**
   * @throws DroverError `forbidden` when a run token asks for further tasks: it is valid for its
   *   run alone
   */
  async complete(
    by: Reporter,
    body: CompletionRequest,
  ): Promise<ReportOutcome & { claimed?: ClaimedTask[] }> {
    if (body.claimNext && by.actor.kind !== 'agent') {
      const detail =
        'Only the token of the agent claims tasks: complete the run without claimNext.';
      throw new DroverError('forbidden', { detail });
    }
    const { claimNext, ...result } = body;
    return claimNext ? this.completeAndClaim(by, result, claimNext) : this.completed(by, result);
  }

  /**
   * Completes runs independently: the result of a refused run holds the refusal, and the others
   * succeed. Compatible completions share one statement.
   */
  async completeMany(
    caller: Caller,
    { completions, claimNext }: Completions,
  ): Promise<{ results: OneOutcome[]; claimed?: ClaimedTask[] }> {
    const results = await Promise.all(
      completions.map(({ runId, ...result }) =>
        this.completeOne(reporterOf(caller, runId), result),
      ),
    );
    const agent = completions[0] && reporterOf(caller, completions[0].runId);
    if (!claimNext || !agent) return { results };
    return { results, claimed: await this.claimNext(agent, claimNext) };
  }

  /** In one transaction if possible. A completion whose claim fails stays. */
  private async completeAndClaim(
    by: Reporter,
    { usage, ...result }: Omit<CompletionRequest, 'claimNext'>,
    { maxTasks = 1 }: { maxTasks?: number },
  ): Promise<ReportOutcome & { claimed: ClaimedTask[] }> {
    const priced = await this.usage.withCompletion(by, usage);
    const { workspaceId, agentId } = by;
    const claim = { workspaceId, agent_id: agentId, max: maxTasks, lease_seconds: null };
    let claimed: ClaimOutcome | undefined;
    const outcome = await this.reports.complete(by, result, priced, async (completion) => {
      const both = await this.pairs.completeAndClaim({ completion, claim });
      claimed = both?.outcome;
      return both?.completed;
    });
    return { ...outcome, claimed: await this.claimNext(by, { maxTasks }, claimed) };
  }

  private async completeOne(
    by: Reporter,
    result: Omit<CompletionRequest, 'claimNext'>,
  ): Promise<OneOutcome> {
    try {
      return { runId: by.runId, outcome: await this.completed(by, result) };
    } catch (error) {
      if (error instanceof DroverError) return { runId: by.runId, problem: error.toProblem() };
      throw error;
    }
  }

  /** Completes a run with its usage, which counts even when the completion is refused. */
  private async completed(
    by: Reporter,
    { usage, ...result }: Omit<CompletionRequest, 'claimNext'>,
  ): Promise<ReportOutcome> {
    return this.reports.complete(by, result, await this.usage.withCompletion(by, usage));
  }

  private claimNext(
    reporter: Reporter,
    { maxTasks = 1 }: { maxTasks?: number },
    claimed?: ClaimOutcome,
  ): Promise<ClaimedTask[]> {
    const { workspaceId, agentId } = reporter;
    const agent = { kind: 'agent', workspaceId, agentId, ...tokenMarksOf(reporter) } as const;
    return this.claiming.claimNow({ agent, maxTasks }, claimed);
  }
}
