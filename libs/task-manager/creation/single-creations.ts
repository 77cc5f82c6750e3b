import { Injectable } from '@nestjs/common';
import { Coalescer, Database } from '#lib/database';
import { type CreatedRow, creationOf, type TaskInput } from '../store/create-tasks.sql.js';

const MAX_BATCH = 100;
/** While one is under way the next gathers; a second keeps Postgres busy while this process thinks. */
const MAX_IN_FLIGHT = 2;

/**
 * Tasks that wait for nothing and come one a request: those that come at the same time are created by
 * one statement. One that the database refuses fails alone.
 */
@Injectable()
export class SingleCreations {
  private readonly coalescer: Coalescer<TaskInput, CreatedRow>;

  constructor(private readonly database: Database) {
    this.coalescer = new Coalescer({
      maxBatch: MAX_BATCH,
      maxInFlight: MAX_IN_FLIGHT,
      identityOf: (task) => task.id,
      run: (workspaceId, tasks) => this.run(workspaceId, tasks),
    });
  }

  create(workspaceId: string, task: TaskInput): Promise<CreatedRow> {
    return this.coalescer.submit(workspaceId, task);
  }

  private async run(workspaceId: string, tasks: readonly TaskInput[]): Promise<CreatedRow[]> {
    const params = [workspaceId, JSON.stringify(tasks), '[]'];
    const rows = await this.database.tenant(workspaceId).rows(creationOf(tasks), params);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return tasks.map((task) => byId.get(task.id) as CreatedRow);
  }
}
