import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { type CommitCheck, commitCheckOf } from '../domain/commit-check.js';
import { complianceOf } from '../domain/compliance.js';
import { toStanding } from '../charges/standing.js';
import { readRunBudgets, readRunUse } from './run-budget.sql.js';

/** What a run holds, what it has used, and the advice for it. Tokens are bigints as text. */
export interface RunBudgetView extends CommitCheck {
  runId: string;
  taskId: string;
  isLive: boolean;
  /** Its task's. */
  estimatedTokens: string;
  /** Of each of `budgets` that covered it when it was handed out. */
  heldTokens: string;
  usedTokens: string;
  /** In USD; exact. */
  usedCostUsd: string;
  /** Of all runs of its task. */
  taskUsedTokens: string;
}

/** The budgets of a run, for whoever looks before a commit. */
@Injectable()
export class RunBudgets {
  constructor(private readonly database: Database) {}

  /**
   * @param linesChanged by the commit that is thought of: then its usage is judged as well
   * @throws DroverError `run_not_found`, also for another agent's
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
