import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Actor, DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import { planRecovery } from '#lib/transitions';
import { holdsSealed, type SealedRow, type Unreadable } from './domain/sealed-columns.js';
import { lockHeldTask } from '#lib/transitions';
import { applyPlans } from '#lib/transitions';
import { TaskSealer } from './task-sealer.js';

/** A task as it was read for the run that holds it, with the columns that the run shall see. */
export type HeldRow = Omit<SealedRow, 'workspace_id'> & { run_id: string };

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
    private readonly sealer: TaskSealer,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
  ) {}

  /** Whether there is anything to open: the rows without need not wait for it. */
  areNeeded(rows: readonly HeldRow[]): boolean {
    return rows.some(
      (row) =>
        holdsSealed(row.input_context) ||
        holdsSealed(row.checkpoint_data) ||
        holdsSealed(row.metadata),
    );
  }

  /**
   * The rows with their secrets opened. A task whose secrets don't open fails here, with the reason
   * `secrets_unreadable`, and is left out; the others are not hurt by it.
   */
  async openForRuns<Row extends HeldRow>(
    holder: Holder,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    if (!this.areNeeded(rows)) return rows;
    const opened: Row[] = [];
    for (const row of rows) {
      const outcome = await this.sealer.open({ ...row, workspace_id: holder.workspaceId });
      if (outcome.kind === 'opened') opened.push({ ...row, ...outcome.columns });
      else await this.fail(holder, row, outcome);
    }
    return opened;
  }

  /** @throws DroverError `secrets_unreadable` */
  async openOne<Row extends SealedRow>(row: Row): Promise<Row> {
    const outcome = await this.sealer.open(row);
    if (outcome.kind === 'opened') return { ...row, ...outcome.columns };
    throw new DroverError('secrets_unreadable', { detail: `${sentence(outcome)}.` });
  }

  private async fail(holder: Holder, row: HeldRow, unreadable: Unreadable): Promise<void> {
    const { workspaceId, agentId } = holder;
    const { column, why, keyId } = unreadable;
    this.logger.error('secrets of a task can not be opened', {
      ...{ workspaceId, taskId: row.id, column, why, dataKeyId: keyId },
    });
    const failure = {
      reason: 'secrets_unreadable',
      message: sentence(unreadable),
      actor: SYSTEM,
      // Neither the key nor the value comes back by itself.
      retryable: false,
    } as const;
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const task = await firstRow(tx, lockHeldTask, [workspaceId, row.run_id, agentId]);
      if (task) await applyPlans(tx, [planRecovery(task, failure, { backoffCapSeconds: 0 }, 0)]);
    });
    this.wakeUps.coordinator();
  }
}

const FIELDS = {
  input_context: 'inputContext',
  checkpoint_data: 'checkpointData',
  output_result: 'outputResult',
  metadata: 'metadata',
} as const;

function sentence({ column, why, keyId }: Unreadable): string {
  return why === 'unknown_key'
    ? `A secret in ${FIELDS[column]} can not be opened: its key ${keyId} is not there`
    : `A secret in ${FIELDS[column]} can not be opened: it was altered, or belongs to another task`;
}
