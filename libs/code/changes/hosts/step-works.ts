import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { Repositories } from '#lib/repositories';
import { PullRequests } from '../forge/pull-requests.js';
import { commitMessage, type StepWork, toHostChange } from './host-change.js';
import { type ClaimedStep, wordsOfChange } from './steps.sql.js';

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
    const [repository, words] = await Promise.all([
      this.repositories.access({ workspaceId, id: row.repository_id }),
      firstRow(this.database.tenant(workspaceId), wordsOfChange, [workspaceId, changeId]),
    ]);
    const { title, summary } = words ?? { title: changeId, summary: null };
    const message = commitMessage({ title, summary }, row);
    const step = { changeId, kind, generation, until };
    const pullRequest = await this.pullRequests.workOf(workspaceId, row, repository);
    return { step, change: toHostChange(row), repository, title, message, pullRequest };
  }
}
