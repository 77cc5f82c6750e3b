import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { Repositories } from '#lib/repositories';
import { PullRequests } from '../forge/pull-requests.js';
import { commitMessage, type StepWork, toHostChange, toNextChange } from './host-change.js';
import { type ClaimedStep, nextToLand, taskOfChange } from './steps.sql.js';

/** Gathers what hosts need for their steps. */
@Injectable()
export class StepWorks {
  constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
    private readonly pullRequests: PullRequests,
  ) {}

  /** @throws DroverError `secrets_unreadable` */
  async of(workspaceId: string, row: ClaimedStep): Promise<StepWork> {
    const { task_id: changeId, step_generation: generation, step: kind, step_until: until } = row;
    const tenant = this.database.tenant(workspaceId);
    const task = await firstRow(tenant, taskOfChange, [workspaceId, changeId]);
    const [repository, after] = await Promise.all([
      this.repositories.access({ workspaceId, id: row.repository_id }, task?.project_id),
      kind === 'land' ? firstRow(tenant, nextToLand, [workspaceId, changeId]) : undefined,
    ]);
    const { title, summary } = task ?? { title: changeId, summary: null };
    const message = commitMessage({ title, summary }, row);
    const step = { changeId, kind, generation, until };
    const pullRequest = await this.pullRequests.workOf(workspaceId, row, repository);
    const next = after ? toNextChange(after) : null;
    return { step, change: toHostChange(row), repository, title, message, next, pullRequest };
  }
}
