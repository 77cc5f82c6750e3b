import { Injectable } from '@nestjs/common';
import { Artifacts, DIFF_OF_CHANGE } from '#lib/artifacts';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError, idOfCursor, type Page, toPage } from '#lib/kernel';
import { Repositories } from '#lib/repositories';
import { requireReadable } from '#lib/task-manager';
import type { ChangeState } from '../domain/change-state.js';
import { reviewsOfChange, toReviewView } from '../store/reviews.sql.js';
import { type ChangeView, toChangeView, toCost, type WholeChange } from './change-view.js';
import type { CostRow } from '../store/cost.sql.js';
import { costOfChange, newestChanges, shownChange } from './changes.sql.js';

export interface ChangeList {
  state?: ChangeState;
  repositoryId?: string;
  limit: number;
  cursor?: string;
}

/** Changes of a workspace, read by people and by agents. */
@Injectable()
export class Changes {
  constructor(
    private readonly database: Database,
    private readonly artifacts: Artifacts,
    private readonly repositories: Repositories,
  ) {}

  /** The newest first. @throws DroverError `malformed_cursor`, `repository_not_found` */
  async list({ workspaceId }: Caller, request: ChangeList): Promise<Page<ChangeView>> {
    const { state, repositoryId, limit, cursor } = request;
    if (repositoryId !== undefined) await this.repositories.get({ workspaceId }, repositoryId);
    const filters = [state, repositoryId].filter((filter) => filter !== undefined);
    const one = state === undefined ? 'repository' : 'state';
    const sql = newestChanges[filters.length === 2 ? 'both' : filters.length === 1 ? one : 'all'];
    const params = [workspaceId, idOfCursor(cursor), limit + 1, ...filters];
    const rows = await this.database.tenant(workspaceId).rows(sql, params);
    return toPage(rows, limit, (row) => [row.task_id], toChangeView);
  }

  /** A change with its proofs, reviews and cost. @throws DroverError `change_not_found` */
  async get(caller: Caller, id: string): Promise<WholeChange> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const params = [workspaceId, id];
    await requireReadable(tenant, caller, id).catch(hideTask);
    const [row, reviews, [cost]] = await Promise.all([
      firstRow(tenant, shownChange, params),
      tenant.rows(reviewsOfChange, params),
      tenant.rows(costOfChange, params),
    ]);
    if (!row) throw new DroverError('change_not_found');
    const shown = reviews.map(toReviewView);
    return { ...toChangeView(row), reviews: shown, cost: toCost(cost as CostRow) };
  }

  /** The diff of the last submission. @throws DroverError `change_not_found`, `artifact_not_found` */
  async diff(caller: Caller, id: string) {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    await requireReadable(tenant, caller, id).catch(hideTask);
    const row = await firstRow(tenant, shownChange, [workspaceId, id]);
    if (!row) throw new DroverError('change_not_found');
    if (row.run_id === null) throw new DroverError('artifact_not_found');
    return this.artifacts.open(workspaceId, { runId: row.run_id, name: DIFF_OF_CHANGE });
  }
}

function hideTask(error: unknown): never {
  const isMissing = error instanceof DroverError && error.code === 'task_not_found';
  throw isMissing ? new DroverError('change_not_found') : error;
}
