import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { ModelRouting, type TaskFacts } from '#lib/models';
import { noteModels } from '../store/note-models.sql.js';
import type { RoutedRow } from '../store/routed-row.js';

/** Chooses models for runs that were just handed out. */
@Injectable()
export class RunModels {
  constructor(
    private readonly database: Database,
    private readonly routing: ModelRouting,
  ) {}

  /**
   * Sets `model` and `model_tier` of the rows. A run keeps its model: its agent's, or the one
   * chosen before. This costs a statement only in workspaces that route tasks.
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
    // A default estimate says nothing about the task: it is not taken for a small one.
    estimatedTokens: row.estimate_source === 'default' ? null : BigInt(row.estimated_tokens),
  };
}
