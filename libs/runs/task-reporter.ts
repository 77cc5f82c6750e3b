import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { runOfTask } from './store/run-of-task.sql.js';
import { type Reporter, reporterOf } from './reporter.js';

/** The reporter about a run that is named by its task's path. */
@Injectable()
export class TaskReporter {
  constructor(private readonly database: Database) {}

  /** @throws DroverError `run_required`, `task_not_found` when the run is not of that task */
  async of(caller: Caller, taskId: string, runId: string | undefined): Promise<Reporter> {
    const reporter = reporterOf(caller, runId);
    const known =
      caller.kind === 'run' ? caller.taskId === taskId : await this.isOf(reporter, taskId);
    if (!known) throw new DroverError('task_not_found');
    return reporter;
  }

  private async isOf({ workspaceId, runId }: Reporter, taskId: string): Promise<boolean> {
    const row = await firstRow(this.database.tenant(workspaceId), runOfTask, [
      workspaceId,
      runId,
      taskId,
    ]);
    return row !== undefined;
  }
}
