import { Injectable } from '@nestjs/common';
import { Database, firstRow, type SqlRunner } from '#lib/database';
import { type Actor, DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { applyPlans, lockLeasedTask, planFailure } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import { AgentSecrets, type SessionColumns } from './agent-secrets.js';
import {
  SECRET_COLUMNS,
  type SecretColumn,
  sentence,
  type Unreadable,
} from '../domain/originals.js';
import { showsSecret } from '../domain/secret-walk.js';
import { type TaskDocuments, taskDocuments } from './task-secrets.sql.js';
import { TaskSecrets } from './task-secrets.js';
import { ValuesAtHand } from './values-at-hand.js';

/** A task as people see it, or its columns to open. */
export type TaskRow = { id: string } & { [Column in SecretColumn]?: unknown };

const FIELDS = {
  title: 'title',
  description: 'description',
  input_context: 'inputContext',
  checkpoint_data: 'checkpointData',
  output_result: 'outputResult',
  metadata: 'metadata',
  secrets: 'secrets',
  answers: 'answers',
  agent: 'agent',
  instructions: 'instructions',
  steps: 'steps',
  deliverables: 'deliverables',
  acceptance: 'acceptance',
  acceptance_script: 'acceptanceScript',
} as const;

/** The same by the names of its fields. */
type ShownTask = { id: string } & { [Column in SecretColumn as (typeof FIELDS)[Column]]?: unknown };

interface Holder {
  workspaceId: string;
  agentId: string;
}

const SYSTEM: Actor = { kind: 'system', id: null };

/** Opens the secrets of tasks for the runs that hold them, and for nobody else. */
@Injectable()
export class HeldSecrets {
  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly agents: AgentSecrets,
    private readonly atHand: ValuesAtHand,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
  ) {}

  /**
   * The rows with their secrets opened. A task whose secrets cannot be opened fails here with
   * `secrets_unreadable` and is left out. The others are not affected.
   */
  async openForRuns<Row extends TaskRow & { run_id: string }>(
    holder: Holder,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    const { workspaceId } = holder;
    const documents = await readDocuments(this.database.tenant(workspaceId), workspaceId, rows);
    const opened: Row[] = [];
    for (const row of rows) {
      const outcome = await this.open(row, documents.get(row.id));
      if ('unreadable' in outcome) await this.fail(holder, row, outcome.unreadable);
      else opened.push(outcome.row);
      await this.remember(holder, row.run_id, documents.get(row.id));
    }
    return opened;
  }

  /**
   * The secrets of the run's agent for its session. If they cannot be opened, the task fails as for
   * its own secrets, and the result is undefined.
   */
  async openForSession(
    holder: Holder,
    row: { id: string; run_id: string },
    shown: SessionColumns,
  ): Promise<SessionColumns | undefined> {
    const opened = await this.agents.open(this.database.tenant(holder.workspaceId), holder, shown);
    if (!('kind' in opened)) return opened;
    await this.fail(holder, row, opened);
    return undefined;
  }

  /** @throws DroverError `secrets_unreadable` */
  async openOne<Task extends ShownTask>(
    runner: SqlRunner,
    workspaceId: string,
    task: Task,
  ): Promise<Task> {
    const columns = SECRET_COLUMNS.filter((column) => FIELDS[column] in task);
    const row: TaskRow = { id: task.id };
    for (const column of columns) row[column] = task[FIELDS[column]];
    const documents = await readDocuments(runner, workspaceId, [row]);
    const outcome = await this.open(row, documents.get(row.id));
    if ('row' in outcome) {
      const opened = columns.map((column) => [FIELDS[column], outcome.row[column]] as const);
      return { ...task, ...Object.fromEntries(opened) };
    }
    throw new DroverError('secrets_unreadable', { detail: `${sentence(outcome.unreadable)}.` });
  }

  private async remember(
    holder: Holder,
    runId: string,
    documents: TaskDocuments | undefined,
  ): Promise<void> {
    if (!documents?.originals) return;
    const { values } = await this.secrets.valuesOf(documents.originals);
    this.atHand.note(holder, runId, values);
  }

  private async open<Row extends TaskRow>(
    row: Row,
    documents: TaskDocuments | undefined,
  ): Promise<{ row: Row } | { unreadable: Unreadable }> {
    if (!documents) return { row };
    const columns: Partial<TaskDocuments> = {};
    for (const column of SECRET_COLUMNS.filter((name) => name in row)) {
      columns[column] = documents[column];
      const original = documents.originals?.find(({ column_name: name }) => name === column);
      if (!original) continue;
      const outcome = await this.secrets.open(original);
      if (outcome.kind === 'unreadable') return { unreadable: outcome };
      columns[column] = outcome.value;
    }
    return { row: { ...row, ...columns } };
  }

  private async fail(
    holder: Holder,
    row: { id: string; run_id: string },
    unreadable: Unreadable,
  ): Promise<void> {
    const { workspaceId, agentId } = holder;
    const { column, why, keyId } = unreadable;
    this.logger.error('secrets of a task cannot be opened', {
      workspaceId,
      taskId: row.id,
      column,
      why,
      dataKeyId: keyId,
    });
    const failure = {
      reason: 'secrets_unreadable',
      message: sentence(unreadable),
      actor: SYSTEM,
      // Neither the key nor the value returns by itself.
      retryable: false,
    } as const;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockLeasedTask, [workspaceId, row.run_id, agentId]);
      if (task) await applyPlans(tx, [planFailure(task, failure, { backoffCapSeconds: 0 }, 0)]);
    });
    this.wakeUps.coordinator();
  }
}

/** The stored columns of rows that can contain secrets. Each secret is visible in its column. */
async function readDocuments(
  runner: SqlRunner,
  workspaceId: string,
  rows: readonly TaskRow[],
): Promise<ReadonlyMap<string, TaskDocuments>> {
  const ids = rows.filter(mayHoldSecret).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const found = await runner.rows(taskDocuments, [workspaceId, ids]);
  return new Map(found.map((documents) => [documents.id, documents]));
}

function mayHoldSecret(row: TaskRow): boolean {
  return showsSecret(SECRET_COLUMNS.map((column) => row[column]));
}
