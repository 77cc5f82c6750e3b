import { Inject, Injectable } from '@nestjs/common';
import { Database, firstRow, type Sql } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { holdsSecret } from '../domain/secret-walk.js';
import type { SealedColumn } from '../domain/sealed-columns.js';
import { type SealedValue, TaskSealer } from '../sealing/task-sealer.js';
import { reportProgress, reportSealedProgress } from '../store/report-progress.sql.js';
import { runSituation } from '../store/run-situation.sql.js';
import type { Reporter } from './reporter.js';

/** A checkpoint on its way into the database. */
export interface SealedCheckpoint {
  statement: Sql<{ task_id: string; progress_percent: number }>;
  /** Null: none is reported. */
  checkpoint: string | null;
  /** The statement's last parameter, if it has one more. */
  key: string[];
}

/** Seals what runs report. */
@Injectable()
export class ReportSecrets {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(TaskSealer) private readonly sealer: TaskSealer,
  ) {}

  /** @throws DroverError `run_not_found` */
  async seal(by: Reporter, column: SealedColumn, value: unknown): Promise<SealedValue> {
    if (!holdsSecret(value)) return { value, keyId: null };
    // A report names its run; what is sealed is bound to the task.
    const params = [by.workspaceId, by.runId, by.agentId];
    const run = await firstRow(this.database.tenant(by.workspaceId), runSituation, params);
    if (!run) throw new DroverError('run_not_found');
    return this.sealer.seal({ workspace_id: by.workspaceId, id: run.task_id }, column, value);
  }

  async checkpoint(
    by: Reporter,
    data: Record<string, unknown> | undefined,
  ): Promise<SealedCheckpoint> {
    if (data === undefined) return { statement: reportProgress, checkpoint: null, key: [] };
    const { value, keyId } = await this.seal(by, 'checkpoint_data', data);
    const checkpoint = JSON.stringify(value);
    return keyId === null
      ? { statement: reportProgress, checkpoint, key: [] }
      : { statement: reportSealedProgress, checkpoint, key: [keyId] };
  }

  /** What a write of sealed values is refused with; see `KeyRing.explain`. */
  explain(error: unknown): unknown {
    return this.sealer.explain(error);
  }
}
