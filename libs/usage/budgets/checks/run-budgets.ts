import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type CommitCheck, commitCheckOf } from '../domain/commit-check.js';
import { complianceOf } from '../domain/compliance.js';
import { toStanding } from '../store/standing.js';
import { readRunBudgets, readRunUse } from './run-budget.sql.js';

/** The tokens that a run holds and has used, and the advice for it. Tokens are bigints as text. */
export interface RunBudgetView extends CommitCheck {
  runId: string;
  taskId: string;
  isLive: boolean;
  /** The estimate of its task. */
  estimatedTokens: string;
  /** The tokens that the run holds of each budget in its `budget_ids`. */
  heldTokens: string;
  usedTokens: string;
  /** The exact cost in USD. */
  usedCostUsd: string;
  /** The sum of all runs of its task. */
  taskUsedTokens: string;
}

/** Checks the budgets of a run, for agents that look before a commit. */
@Injectable()
export class RunBudgets {
  constructor(private readonly database: Database) {}

  /**
   * @param linesChanged the lines of the planned commit; with them the usage is judged as well
   * @throws DroverError `run_not_found`, also for a run of another agent
   */
  async check(
    { workspaceId, runId, agentId }: { workspaceId: string; runId: string; agentId: string },
    linesChanged?: number,
  ): Promise<RunBudgetView> {
    const [[run], budgets] = await this.database.tenant(workspaceId).pipeline([
      [readRunUse, [workspaceId, runId, agentId]],
      [readRunBudgets, [workspaceId, runId]],
    ]);
    if (!run) throw new DroverError('run_not_found');
    const compliance = complianceOf(budgets.map(toStanding));
    return {
      runId: run.run_id,
      taskId: run.task_id,
      isLive: run.is_live,
      estimatedTokens: run.estimated_tokens,
      heldTokens: run.held_tokens,
      usedTokens: run.used_tokens,
      usedCostUsd: run.used_cost_usd,
      taskUsedTokens: run.task_used_tokens,
      ...commitCheckOf(compliance, BigInt(run.task_used_tokens), linesChanged),
    };
  }
}
