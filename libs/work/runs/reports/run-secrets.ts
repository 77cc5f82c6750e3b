import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Coalescer, Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import {
  type ColumnOfTask,
  hasRoomForSecret,
  originalsOf,
  type Sealed,
  type SecretsInput,
  type SecretsOfRun,
  secretsOfRuns,
  SecretValues,
  TaskSecrets,
  ValuesAtHand,
} from '#lib/secrets';
import { partsOf, withoutSecrets } from './report-parts.js';
import type { Reporter } from './reporter.js';

/** In ms. A secret that reaches the task through another server is known after this time. */
const REMEMBERED_MS = 30_000;
const REMEMBERED_RUNS = 10_000;
const REMEMBERED_CHARACTERS = 16_000_000;
const WARNED_RUNS = 1_000;

/** The facts about a run: its task, if the run exists, and the secret values in it. */
interface Known {
  taskId?: string;
  values: SecretValues;
}

/** A checkpoint without its secrets, as JSON; null when none is reported. */
export interface Checkpoint {
  text: string | null;
  originals: SecretsInput[];
}

interface Documents {
  outputResult?: unknown;
  checkpointData?: unknown;
}

/** A report without its secrets, with the originals of its documents. */
export type CleanReport<Report> = Omit<Report, keyof Documents> & {
  result: Sealed;
  checkpoint: Checkpoint;
};

/**
 * Seals and hides secrets in reports of runs. The secret values of a run's task are cached for a
 * short while, so that a run that reports often rarely queries the database.
 */
@Injectable()
export class RunSecrets {
  private readonly known = new LRUCache<string, Known>({
    max: REMEMBERED_RUNS,
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: ({ values }) => values.size + 1,
    ttl: REMEMBERED_MS,
    // Values of runs that no longer report must not stay in memory.
    ttlAutopurge: true,
  });
  private readonly asked = new Map<string, Promise<Known>>();
  private readonly warned = new LRUCache<string, true>({ max: WARNED_RUNS });
  private readonly coalescer: Coalescer<string, SecretsOfRun | undefined>;

  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly atHand: ValuesAtHand,
    private readonly logger: Logger,
  ) {
    this.coalescer = new Coalescer({
      identityOf: (runId) => runId,
      run: (workspaceId, runIds) => this.read(workspaceId, runIds),
    });
  }

  /**
   * A report without the secret values of the run's task, without those that the report itself
   * names, and without likely secrets. The task is not read when no part of the report has room for
   * a secret.
   *
   * @throws DroverError `run_not_found`
   */
  async clean<Report extends object>(by: Reporter, report: Report): Promise<CleanReport<Report>> {
    const { outputResult = null, checkpointData, ...rest } = report as Report & Documents;
    const { documents, texts } = partsOf(rest);
    const values = await this.valuesFor(by, [outputResult, checkpointData, ...documents], texts);
    return {
      ...withoutSecrets(rest, values),
      result: await this.sealResult(by, outputResult, values),
      checkpoint: await this.sealCheckpoint(by, checkpointData, values),
    };
  }

  /** See `TaskSecrets.written`. */
  written<T>(write: Promise<T>): Promise<T> {
    return this.secrets.written(write);
  }

  /** The same for the write that ends the run: its cached values are then removed. */
  async writtenAtEnd<T>(by: Reporter, write: Promise<T>): Promise<T> {
    const result = await this.written(write);
    this.forget(by);
    return result;
  }

  /** The secret values of the run's task, agent and project, as far as they can be decrypted. */
  async of(by: Reporter): Promise<SecretValues> {
    return (await this.knownOf(by)).values;
  }

  /**
   * Removes the cached values: the run has ended, or its task has other secrets now. The values at
   * hand stay, because a heartbeat that was sent before the end can arrive after it.
   */
  forget(by: Reporter): void {
    const key = keyOf(by);
    this.known.delete(key);
    this.asked.delete(key);
  }

  private async valuesFor(
    by: Reporter,
    documents: readonly unknown[],
    texts: readonly string[],
  ): Promise<SecretValues> {
    if (!hasRoomForSecret(documents) && !hasRoomForSecret(texts)) return SecretValues.NONE;
    const values = await this.of(by);
    return values.and(SecretValues.in(...documents));
  }

  private sealResult(by: Reporter, document: unknown, values: SecretValues): Promise<Sealed> {
    return this.secrets.seal(document, () => this.columnOf(by, 'output_result'), values);
  }

  /** Its column is always among the originals: the checkpoint before it may have held a secret. */
  private async sealCheckpoint(
    by: Reporter,
    document: unknown,
    values: SecretValues,
  ): Promise<Checkpoint> {
    if (document === undefined) return { text: null, originals: [] };
    const column = await this.columnOf(by, 'checkpoint_data');
    const { shown, original } = await this.secrets.seal(document, () => column, values);
    return { text: JSON.stringify(shown), originals: [original ?? column] };
  }

  /** @throws DroverError `run_not_found` */
  private async columnOf(by: Reporter, column: ColumnOfTask['column_name']): Promise<ColumnOfTask> {
    // A report names its run; sealed values are bound to the task.
    const { taskId } = await this.knownOf(by);
    if (taskId === undefined) throw new DroverError('run_not_found');
    return { workspace_id: by.workspaceId, task_id: taskId, column_name: column };
  }

  private async knownOf(by: Reporter): Promise<Known> {
    const key = keyOf(by);
    return this.known.get(key) ?? this.asked.get(key) ?? this.ask(key, by);
  }

  private ask(key: string, by: Reporter): Promise<Known> {
    const answer = this.look(by)
      .then((known) => {
        // Unless the run was forgotten meanwhile: the values may be out of date.
        if (this.asked.get(key) === answer) this.known.set(key, known);
        return known;
      })
      .finally(() => {
        if (this.asked.get(key) === answer) this.asked.delete(key);
      });
    this.asked.set(key, answer);
    return answer;
  }

  private async look(by: Reporter): Promise<Known> {
    const row = await this.coalescer.submit(by.workspaceId, by.runId);
    const originals = row === undefined ? [] : originalsOf(row);
    const { values, unreadable } = await this.secrets.valuesOf(originals);
    if (row) this.atHand.note(by, by.runId, values);
    if (unreadable) this.warn(by, row?.task_id, unreadable.column);
    return { taskId: row?.task_id, values };
  }

  private warn({ workspaceId, runId }: Reporter, taskId: string | undefined, column: string): void {
    if (this.warned.has(runId)) return;
    this.warned.set(runId, true);
    this.logger.warn('Secret of a task could not be opened; reports of its run can show it', {
      workspaceId,
      runId,
      taskId,
      column,
    });
  }

  private async read(
    workspaceId: string,
    runIds: readonly string[],
  ): Promise<(SecretsOfRun | undefined)[]> {
    const tenant = this.database.tenant(workspaceId);
    const rows = await tenant.rows(secretsOfRuns, [workspaceId, runIds]);
    const byRun = new Map(rows.map((row) => [row.run_id, row]));
    return runIds.map((runId) => byRun.get(runId));
  }
}

function keyOf({ workspaceId, runId }: Reporter): string {
  return `${workspaceId} ${runId}`;
}
