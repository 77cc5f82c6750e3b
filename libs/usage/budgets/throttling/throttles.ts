import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { projectionFacts } from '../domain/burn.js';
import { affordableRuns, project, type RunBurn } from '../domain/projection.js';
import type { BurningBudget } from '../store/burn.js';
import { burnOfWideBudgets, runHours } from './burn-of-scopes.sql.js';
import type { WantedThrottle } from './write-throttles.sql.js';

/**
 * Computes which workspaces and projects need fewer live runs because their budgets would not last.
 */
@Injectable()
export class Throttles {
  constructor(private readonly database: Database) {}

  /** @param workspaceId null means all workspaces */
  async wanted(workspaceId: string | null): Promise<WantedThrottle[]> {
    const burning = await this.database.service.rows(burnOfWideBudgets, [workspaceId]);
    const wanted: WantedThrottle[] = [];
    for (const budget of burning) {
      const facts = projectionFacts(budget);
      const { recommendation: reason } = project(facts);
      if (reason === 'CONTINUE') continue;
      const { workspace_id, id: budget_id, project_id, version: budget_version } = budget;
      const max_runs = affordableRuns(facts, await this.readRunBurn(budget));
      wanted.push({ workspace_id, project_id, budget_id, budget_version, max_runs, reason });
    }
    return wanted;
  }

  private async readRunBurn({ workspace_id, project_id }: BurningBudget): Promise<RunBurn> {
    const row = await firstRow(this.database.service, runHours, [workspace_id, project_id]);
    return { tokens: BigInt(row?.tokens ?? 0), runHours: row?.run_hours ?? 0 };
  }
}
