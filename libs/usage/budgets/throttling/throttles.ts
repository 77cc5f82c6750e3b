import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { projectionFacts } from '../domain/burn.js';
import { affordableRuns, project } from '../domain/projection.js';
import { type BurningBudget, burnOfWideBudgets, runHours } from '../projection/burn.sql.js';
import type { WantedThrottle } from './throttles.sql.js';

/** Says which workspaces and projects are to have fewer runs at once, because their budgets would not last. */
@Injectable()
export class Throttles {
  constructor(private readonly database: Database) {}

  /** @param workspaceId null: of all workspaces */
  async wanted(workspaceId: string | null): Promise<WantedThrottle[]> {
    const burning = await this.database.service.rows(burnOfWideBudgets, [workspaceId]);
    const wanted: WantedThrottle[] = [];
    for (const budget of burning) {
      const facts = projectionFacts(budget);
      const { recommendation: reason } = project(facts);
      if (reason === 'CONTINUE') continue;
      const { workspace_id, id: budget_id, project_id } = budget;
      const max_runs = affordableRuns(facts, await this.runsOf(budget));
      wanted.push({ workspace_id, project_id, budget_id, max_runs, reason });
    }
    return wanted;
  }

  private async runsOf({ workspace_id, project_id }: BurningBudget) {
    const row = await firstRow(this.database.service, runHours, [workspace_id, project_id]);
    return { tokens: BigInt(row?.tokens ?? 0), runHours: row?.run_hours ?? 0 };
  }
}
