import { Injectable } from '@nestjs/common';
import { Coalescer, Database, type SqlRunner } from '#lib/database';
import { type CreatedRow, creationOf, type TaskInput } from '../store/create-tasks.sql.js';
import { KnownCapabilitySets } from './known-capability-sets.js';

const MAX_BATCH = 100;
/** While one is under way the next gathers; a second keeps Postgres busy while this process thinks. */
const MAX_IN_FLIGHT = 2;

/** Writes new tasks, each lot by one statement. */
@Injectable()
export class TaskInserts {
  private readonly sets = new KnownCapabilitySets();
  private readonly coalescer: Coalescer<TaskInput, CreatedRow>;

  constructor(private readonly database: Database) {
    this.coalescer = new Coalescer({
      maxBatch: MAX_BATCH,
      maxInFlight: MAX_IN_FLIGHT,
      identityOf: (task) => task.id,
      run: (workspaceId, tasks) => this.together(workspaceId, tasks),
    });
  }

  /**
   * A task that waits for nothing and came alone: those that come at the same time are created by one statement. One
   * that the database refuses fails alone.
   */
  one(workspaceId: string, task: TaskInput): Promise<CreatedRow> {
    return this.coalescer.submit(workspaceId, task);
  }

  async many(
    runner: SqlRunner,
    workspaceId: string,
    tasks: readonly TaskInput[],
    edges: readonly object[],
  ): Promise<CreatedRow> {
    const sealed = tasks.some((task) => task.sealed_with !== undefined);
    const known = this.sets.haveAllOf(workspaceId, tasks);
    const extras =
      sealed || !known || edges.length > 0 || tasks.some((task) => task.tags.length > 0);
    const params = [workspaceId, JSON.stringify(tasks), ...(extras ? [JSON.stringify(edges)] : [])];
    const [created] = await runner.rows(creationOf({ sealed, extras }), params);
    this.sets.note(workspaceId, tasks);
    return created as CreatedRow;
  }

  private async together(workspaceId: string, tasks: readonly TaskInput[]): Promise<CreatedRow[]> {
    const created = await this.many(this.database.tenant(workspaceId), workspaceId, tasks, []);
    return tasks.map(() => created);
  }
}
