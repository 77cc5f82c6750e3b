import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { ModelRouting, type TaskFacts } from '#lib/models';
import { noteModels } from '../store/note-models.sql.js';
import type { RoutedRow } from '../store/routed-row.js';

/** Gives runs that were just handed out their models. */
@Injectable()
export class RunModels {
  constructor(
    private readonly database: Database,
    private readonly routing: ModelRouting,
  ) {}

  /**
   * Sets `model` and `model_tier` of the rows. A run that has a model keeps it: its agent's, or what was chosen
   * before. Only where the workspace routes its tasks does this cost a statement.
   */
  async choose(workspaceId: string, rows: readonly RoutedRow[]): Promise<void> {
    if (rows.length === 0) return;
    const open = rows.filter((row) => row.model === null);
    for (const row of rows) {
      if (row.model !== null) row.model_tier = await this.routing.tierOf(row.model);
    }
    if (open.length > 0) await this.route(workspaceId, open);
  }

  private async route(workspaceId: string, rows: readonly RoutedRow[]): Promise<void> {
    const choose = await this.routing.chooserOf(workspaceId);
    if (!choose) return;
    for (const row of rows) {
      const { model, tier } = await choose(factsOf(row));
      Object.assign(row, { model, model_tier: tier });
    }
    const params = [workspaceId, rows.map((row) => row.run_id), rows.map((row) => row.model)];
    await this.database.tenant(workspaceId).rows(noteModels, params);
  }
}

function factsOf(row: RoutedRow): TaskFacts {
  return {
    taskType: row.task_type,
    priority: row.priority,
    projectId: row.project_id,
    estimatedComplexity: row.estimated_complexity,
    // By default nothing is known of a task: that does not make it a small one.
    estimatedTokens: row.estimate_source === 'default' ? null : BigInt(row.estimated_tokens),
  };
}
