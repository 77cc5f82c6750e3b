import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Coalescer, Database } from '#lib/database';
import { Logger } from '#lib/observability';
import { SecretValues } from '#lib/secrets';
import { TaskSealer } from '#lib/secrets';
import { type SecretsRow, tasksWithSecrets } from '#lib/secrets';
import type { Reporter } from './reporter.js';

/** A secret that reaches the task by another server is known after that long. */
const REMEMBERED_MS = 30_000;
const REMEMBERED_RUNS = 10_000;
const REMEMBERED_CHARACTERS = 16_000_000;
const WARNED_RUNS = 1_000;
const MAX_BATCH = 100;
const MAX_IN_FLIGHT = 2;

/**
 * The secret values of the tasks of runs that report. Kept for a short while only, so that a run that
 * reports often asks the database seldom.
 */
@Injectable()
export class RunSecrets {
  private readonly known = new LRUCache<string, SecretValues>({
    max: REMEMBERED_RUNS,
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (values) => values.size + 1,
    ttl: REMEMBERED_MS,
    // Values of runs that are heard of no more are not to stay.
    ttlAutopurge: true,
  });
  private readonly asked = new Map<string, Promise<SecretValues>>();
  private readonly warned = new LRUCache<string, true>({ max: WARNED_RUNS });
  private readonly coalescer: Coalescer<string, SecretsRow | undefined>;

  constructor(
    private readonly database: Database,
    private readonly sealer: TaskSealer,
    private readonly logger: Logger,
  ) {
    this.coalescer = new Coalescer({
      maxBatch: MAX_BATCH,
      maxInFlight: MAX_IN_FLIGHT,
      identityOf: (runId) => runId,
      run: (workspaceId, runIds) => this.read(workspaceId, runIds),
    });
  }

  /** The secret values in the run's task, as far as they can be opened. */
  async of(by: Reporter): Promise<SecretValues> {
    const key = keyOf(by);
    return this.known.get(key) ?? this.asked.get(key) ?? this.ask(key, by);
  }

  /** The run has ended, or its task has other secrets now. */
  forget(by: Reporter): void {
    const key = keyOf(by);
    this.known.delete(key);
    this.asked.delete(key);
  }

  private ask(key: string, by: Reporter): Promise<SecretValues> {
    const answer = this.look(by)
      .then((values) => {
        // Unless it was forgotten meanwhile: what was read may be out of date.
        if (this.asked.get(key) === answer) this.known.set(key, values);
        return values;
      })
      .finally(() => {
        if (this.asked.get(key) === answer) this.asked.delete(key);
      });
    this.asked.set(key, answer);
    return answer;
  }

  private async look(by: Reporter): Promise<SecretValues> {
    const row = await this.coalescer.submit(by.workspaceId, by.runId);
    if (!row) return SecretValues.NONE;
    const { values, unreadable } = await this.sealer.valuesOf(row);
    if (unreadable) this.warn(by, row, unreadable.column);
    return values;
  }

  private warn({ workspaceId, runId }: Reporter, { id: taskId }: SecretsRow, column: string): void {
    if (this.warned.has(runId)) return;
    this.warned.set(runId, true);
    this.logger.warn(
      'a secret of a task can not be opened, and is not hidden when its run reports it',
      {
        ...{ workspaceId, runId, taskId, column },
      },
    );
  }

  private async read(
    workspaceId: string,
    runIds: readonly string[],
  ): Promise<(SecretsRow | undefined)[]> {
    const tenant = this.database.tenant(workspaceId);
    const rows = await tenant.rows(tasksWithSecrets, [workspaceId, runIds]);
    const byRun = new Map(rows.map((row) => [row.run_id, row]));
    return runIds.map((runId) => byRun.get(runId));
  }
}

function keyOf({ workspaceId, runId }: Reporter): string {
  return `${workspaceId} ${runId}`;
}
