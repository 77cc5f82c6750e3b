import { Injectable } from '@nestjs/common';
import { Coalescer, Database } from '#lib/database';
import { type Original, writeSecrets } from '#lib/secrets';
import { type CreatedRow, createTasks, type TaskInput } from '../store/create-tasks.sql.js';

const MAX_BATCH = 100;
/** While one is under way the next gathers; a second keeps Postgres busy while this process thinks. */
const MAX_IN_FLIGHT = 2;

/** A task on its way into the database, with the originals of what is secret in it. */
export interface TaskToCreate {
  row: TaskInput;
  originals: readonly Original[];
}

/** The statements that create tasks, and their edges. */
export function creationOf(workspaceId: string, tasks: readonly TaskToCreate[], edges: object[]) {
  const rows = JSON.stringify(tasks.map(({ row }) => row));
  const originals = tasks.flatMap((task) => task.originals);
  return [
    [createTasks, [workspaceId, rows, JSON.stringify(edges)]],
    ...writeSecrets(workspaceId, originals),
  ] as const;
}

/**
 * Tasks that wait for nothing and come one a request: those that come at the same time are created by
 * one statement. One that the database refuses fails alone.
 */
@Injectable()
export class SingleCreations {
  private readonly coalescer: Coalescer<TaskToCreate, CreatedRow>;

  constructor(private readonly database: Database) {
    this.coalescer = new Coalescer({
      maxBatch: MAX_BATCH,
      maxInFlight: MAX_IN_FLIGHT,
      identityOf: ({ row }) => row.id,
      run: (workspaceId, tasks) => this.run(workspaceId, tasks),
    });
  }

  create(workspaceId: string, task: TaskToCreate): Promise<CreatedRow> {
    return this.coalescer.submit(workspaceId, task);
  }

  private async run(workspaceId: string, tasks: readonly TaskToCreate[]): Promise<CreatedRow[]> {
    const tenant = this.database.tenant(workspaceId);
    const [rows] = await tenant.pipeline(creationOf(workspaceId, tasks, []));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return tasks.map((task) => byId.get(task.row.id) as CreatedRow);
  }
}
