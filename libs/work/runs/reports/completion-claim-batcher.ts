import { Injectable } from '@nestjs/common';
import { Coalescer, Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { HeldWorkspaces } from '../claims/held-workspaces.js';
import { type Claim, ClaimBatcher, type ClaimOutcome } from '../claims/claim-batcher.js';
import { type CompletedRow, completeAllRuns } from './complete-runs.sql.js';
import { type Completion, reportParams } from './completion-batcher.js';

/** A completion, and the claim of the same agent after it. */
export interface CompletionWithClaim {
  completion: Completion;
  claim: Claim;
}

export interface CompletedAndClaimed {
  completed: CompletedRow;
  /** Undefined if the claim must be repeated alone. */
  outcome: ClaimOutcome | undefined;
}

/**
 * Completes runs and claims the next tasks in one transaction: one statement each for all agents
 * that ask at the same time, and one commit. If a half of any of them fails, nothing changes, and
 * each caller does its halves apart: a refused completion claims nothing, and a completion whose
 * claim fails stays.
 *
 * Not where something holds tasks back, and not with usage or secrets in the result. Budgets, usage
 * and secrets lock or write further rows, which the other half must not wait for.
 */
@Injectable()
export class CompletionClaimBatcher {
  private readonly coalescer = new Coalescer<CompletionWithClaim, CompletedAndClaimed | undefined>({
    identityOf: ({ claim }) => claim.agent_id,
    run: (_, pairs) => this.run(pairs),
  });

  constructor(
    private readonly database: Database,
    private readonly claims: ClaimBatcher,
    private readonly held: HeldWorkspaces,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns undefined if nothing has changed, and both must be done apart
   * @throws DroverError `database_unavailable`, or `outcome_unknown`
   */
  async completeAndClaim(pair: CompletionWithClaim): Promise<CompletedAndClaimed | undefined> {
    const { completion, claim } = pair;
    if (completion.usage || completion.original) return undefined;
    if (this.held.has(claim.workspaceId)) return undefined;
    return this.coalescer.submit(this.claims.groupOf(claim), pair);
  }

  private async run(
    pairs: readonly CompletionWithClaim[],
  ): Promise<(CompletedAndClaimed | undefined)[]> {
    const claims = pairs.map(({ claim }) => claim);
    const both = await this.attempt(pairs, claims);
    if (!both) return pairs.map(() => undefined);
    const [completed, rows] = both;
    const byRun = new Map(completed.map((row) => [row.run_id, row]));
    const outcomes = await this.claims.settled(claims, rows);
    return pairs.map(({ completion }, index) => {
      const row = byRun.get(completion.run_id);
      return row && { completed: row, outcome: outcomes[index] };
    });
  }

  private async attempt(pairs: readonly CompletionWithClaim[], claims: readonly Claim[]) {
    const workspaceId = claims[0]?.workspaceId ?? '';
    const reports = pairs.map(({ completion }) => completion);
    try {
      return await this.database
        .tenant(workspaceId)
        .pipeline([
          [completeAllRuns, reportParams(workspaceId, reports)],
          this.claims.stepOf(claims),
        ]);
    } catch (error) {
      // Any other error has rolled both halves back.
      if (error instanceof DroverError && error.code !== 'conflict_retry') throw error;
      this.logger.debug('completions and claims are done apart', { error });
      return undefined;
    }
  }
}
