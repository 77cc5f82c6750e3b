import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Sql } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { hasRoomForSecret, SecretValues } from '#lib/secrets';
import { holdsSecret } from '#lib/secrets';
import type { SealedColumn } from '#lib/secrets';
import { type SealedValue, TaskSealer } from '#lib/secrets';
import { reportProgress, reportSealedProgress } from './store/report-progress.sql.js';
import { runSituation } from './store/run-situation.sql.js';
import type { Reporter } from './reporter.js';
import { RunSecrets } from './run-secrets.js';

/** A checkpoint on its way into the database. */
export interface SealedCheckpoint {
  statement: Sql<{ task_id: string; progress_percent: number }>;
  /** Null: none is reported. */
  checkpoint: string | null;
  /** The statement's last parameter, if it has one more. */
  key: string[];
}

/** Seals and hides the secrets in what runs report. */
@Injectable()
export class ReportSecrets {
  constructor(
    private readonly database: Database,
    private readonly sealer: TaskSealer,
    private readonly runSecrets: RunSecrets,
  ) {}

  /**
   * What must not be seen in a report: the secret values of the run's task, and those that the report
   * itself names. The task is not asked for when nothing of the report has room for one.
   *
   * @param document what is kept as JSON of it
   * @param texts and all the rest
   */
  async valuesFor(
    by: Reporter,
    document: unknown,
    texts: readonly unknown[],
  ): Promise<SecretValues> {
    if (!hasRoomForSecret(document) && !hasRoomForSecret(texts)) return SecretValues.NONE;
    const values = await this.runSecrets.of(by);
    return values.and(SecretValues.in(document));
  }

  /** The run has ended, so that its secrets need not be known any more; or it has reported others. */
  forget(by: Reporter): void {
    this.runSecrets.forget(by);
  }

  /** @throws DroverError `run_not_found` */
  async seal(
    by: Reporter,
    column: SealedColumn,
    value: unknown,
    values: SecretValues,
  ): Promise<SealedValue> {
    if (!holdsSecret(value, values)) return { value, keyId: null };
    // A report names its run; what is sealed is bound to the task.
    const params = [by.workspaceId, by.runId, by.agentId];
    const run = await firstRow(this.database.tenant(by.workspaceId), runSituation, params);
    if (!run) throw new DroverError('run_not_found');
    return this.sealer.seal(
      { workspace_id: by.workspaceId, id: run.task_id },
      column,
      value,
      values,
    );
  }

  async checkpoint(
    by: Reporter,
    data: Record<string, unknown> | undefined,
    values: SecretValues,
  ): Promise<SealedCheckpoint> {
    if (data === undefined) return { statement: reportProgress, checkpoint: null, key: [] };
    const { value, keyId } = await this.seal(by, 'checkpoint_data', data, values);
    const checkpoint = JSON.stringify(value);
    return keyId === null
      ? { statement: reportProgress, checkpoint, key: [] }
      : { statement: reportSealedProgress, checkpoint, key: [keyId] };
  }

  /**
   * Does a write that may hold sealed values.
   *
   * @throws DroverError `conflict_retry` when their key has gone meanwhile; see `KeyRing.explain`
   */
  async written<T>(write: Promise<T>): Promise<T> {
    return write.catch((error: unknown) => {
      throw this.sealer.explain(error);
    });
  }
}
