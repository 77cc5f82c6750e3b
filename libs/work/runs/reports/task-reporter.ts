import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type AgentCaller, type Caller, DroverError } from '#lib/kernel';
import { onlyRunOfAgent, runOfTask } from './run-of-task.sql.js';
import { type Reporter, reporterOf } from './reporter.js';

/** The reporter of a run that the path names by its task. */
@Injectable()
export class TaskReporter {
  constructor(private readonly database: Database) {}

  /**
   * An agent that names no run means its only run of the task.
   *
   * @throws DroverError `run_required`, `task_not_found` when the run is not of that task
   */
  async of(caller: Caller, taskId: string, runId: string | undefined): Promise<Reporter> {
    if (caller.kind === 'agent' && runId === undefined)
      return reporterOf(caller, await this.ownRun(caller, taskId));
    const reporter = reporterOf(caller, runId);
    const known =
      caller.kind === 'run' ? caller.taskId === taskId : await this.isOf(reporter, taskId);
    if (!known) throw new DroverError('task_not_found');
    return reporter;
  }

  private async ownRun({ workspaceId, agentId }: AgentCaller, taskId: string): Promise<string> {
    const params = [workspaceId, taskId, agentId];
    const row = await firstRow(this.database.tenant(workspaceId), onlyRunOfAgent, params);
    if (!row) throw new DroverError('task_not_found');
    if (row.id === null) throw new DroverError('run_required');
    return row.id;
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
