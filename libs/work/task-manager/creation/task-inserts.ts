import { Injectable } from '@nestjs/common';
import { Coalescer, Database, type Sql, TenantScope, type Transaction } from '#lib/database';
import { type SecretsInput, writeSecrets } from '#lib/secrets';
import { type CreatedRow, creationOf, sharedBy, type TaskInput } from './create-tasks.sql.js';
import { KnownCapabilitySets } from './known-capability-sets.js';

/** A task on its way into the database, with the originals of its secrets. */
export interface TaskToCreate {
  row: TaskInput;
  originals: readonly SecretsInput[];
}

/** So few tasks cost as much by either statement. */
const MANY = 20;

/** Writes new tasks, each batch with one statement. */
@Injectable()
export class TaskInserts {
  private readonly sets = new KnownCapabilitySets();
  private readonly coalescer: Coalescer<TaskToCreate, CreatedRow>;

  constructor(private readonly database: Database) {
    this.coalescer = new Coalescer({
      identityOf: ({ row }) => row.id,
      run: (workspaceId, tasks) => this.together(workspaceId, tasks),
    });
  }

  /**
   * A single task without dependencies. Tasks that arrive at the same time share one statement. A
   * task that the database refuses fails alone.
   */
  one(workspaceId: string, task: TaskToCreate): Promise<CreatedRow> {
    return this.coalescer.submit(workspaceId, task);
  }

  async many(
    runner: TenantScope | Transaction,
    workspaceId: string,
    tasks: readonly TaskToCreate[],
    edges: readonly object[],
  ): Promise<CreatedRow> {
    const rows = tasks.map(({ row }) => row);
    const known = this.sets.haveAllOf(workspaceId, rows);
    const extras = !known || edges.length > 0 || rows.some((row) => row.tags.length > 0);
    const originals = tasks.flatMap((task) => task.originals);
    const [[created]] = await runner.pipeline([
      extras ? withExtras(workspaceId, rows, edges) : withoutExtras(workspaceId, rows),
      ...writeSecrets(workspaceId, originals),
    ]);
    // A transaction's records can still be rolled back with it.
    if (runner instanceof TenantScope) this.sets.note(workspaceId, rows);
    return created as CreatedRow;
  }

  private async together(
    workspaceId: string,
    tasks: readonly TaskToCreate[],
  ): Promise<CreatedRow[]> {
    const created = await this.many(this.database.tenant(workspaceId), workspaceId, tasks, []);
    return tasks.map(() => created);
  }
}

type Creation = readonly [Sql<CreatedRow>, unknown[]];

function withExtras(workspaceId: string, rows: readonly TaskInput[], edges: object): Creation {
  return [creationOf('with_extras'), [workspaceId, JSON.stringify(rows), JSON.stringify(edges)]];
}

function withoutExtras(workspaceId: string, rows: readonly TaskInput[]): Creation {
  const alike = rows.length >= MANY ? sharedBy(rows) : undefined;
  if (!alike) return [creationOf('each'), [workspaceId, JSON.stringify(rows)]];
  const { own, shared } = alike;
  return [creationOf('alike'), [workspaceId, JSON.stringify(own), JSON.stringify(shared)]];
}
